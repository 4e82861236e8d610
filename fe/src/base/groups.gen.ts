// Generated from the routes of torch_tb_profiler/web by `python -m tests.generate --write`. Do not edit.

export const GROUP_LABELS: Readonly<Record<string, string>> = {
  compute: "Compute",
  copies: "Copies",
  data_loading: "Data loading",
  communication: "Communication",
  waiting: "Waiting for a rank",
  host_code: "Host code",
  not_recorded: "Not recorded",
};
export const GROUP_OF_KIND: Readonly<Record<string, string>> = {
  kernel: "compute",
  memcpy: "copies",
  memset: "copies",
  dataloader: "data_loading",
  communication: "communication",
  waiting: "waiting",
  operator: "host_code",
  python: "host_code",
  runtime: "host_code",
  launch: "host_code",
  synchronization: "host_code",
  annotation: "host_code",
  not_recorded: "not_recorded",
  before_recording: "not_recorded",
};
