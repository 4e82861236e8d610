export const recordInto = (folder: string): string => `import torch_tb_profiler

with torch_tb_profiler.record(${JSON.stringify(folder)}) as profiler:
    for batch in loader:
        train_step(batch)
        profiler.step()`;
