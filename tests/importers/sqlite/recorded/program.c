/* Writes what PyTorch, PyProf and NCCL write to NVTX, and every kind of event that NVTX has, without a GPU. See README.md. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void work(void) { volatile double x = 0; for (int i = 0; i < 300000; i++) x += i; }

static nvtxEventAttributes_t event(const char *text) {
    nvtxEventAttributes_t found = {0};
    found.version = NVTX_VERSION;
    found.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    found.messageType = text ? NVTX_MESSAGE_TYPE_ASCII : NVTX_MESSAGE_UNKNOWN;
    found.message.ascii = text;
    return found;
}

static void *backward(void *given) {
    long k = (long)given;
    char text[200];
    nvtxNameOsThread(syscall(SYS_gettid), "pt_autograd_0");
    sprintf(text, "autograd::engine::evaluate_function: AddmmBackward0, seq = %ld, op_id = %ld", k, k * 10 + 6);
    nvtxRangePushA(text);
    sprintf(text, "AddmmBackward0, seq = %ld, op_id = %ld", k, k * 10 + 7);
    nvtxRangePushA(text);
    sprintf(text, "aten::mm, op_id = %ld", k * 10 + 8);
    nvtxRangePushA(text);
    work();
    for (int i = 0; i < 3; i++) nvtxRangePop();
    return NULL;
}

static void step(long k, nvtxDomainHandle_t domain, nvtxStringHandle_t registered) {
    char text[300];
    pthread_t thread;
    nvtxEventAttributes_t told;
    sprintf(text, "epoch %ld", k);
    nvtxRangeId_t epoch = nvtxRangeStartA(text);
    sprintf(text, "ProfilerStep#%ld, op_id = %ld", k, k * 10 + 1);
    nvtxRangePushA(text);
    sprintf(text, "aten::addmm, seq = %ld, op_id = %ld, sizes = [[128], [64, 256], [256, 128]], input_op_ids = [(%ld,0)]", k, k * 10 + 2, k * 10 + 1);
    nvtxRangePushA(text), work(), nvtxRangePop();
    nvtxRangePushW(L"wide \u00e9\u4e2d"), work(), nvtxRangePop();
    sprintf(text, "MulBackward, stashed seq=%ld", k);
    nvtxRangePushA(text), work(), nvtxRangePop();
    nvtxRangePushA("{'traceMarker': ['train.py:31', 'net.py:12']}");
    nvtxRangePushA("{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'name': 'input', 'type': 'tensor', 'shape': (64, 128), 'dtype': 'float16'}]}");
    work(), nvtxRangePop(), nvtxRangePop();
    pthread_create(&thread, NULL, backward, (void *)k), pthread_join(thread, NULL);
    told = event(NULL);
    told.messageType = NVTX_MESSAGE_TYPE_REGISTERED, told.message.registered = registered, told.category = 4;
    told.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, told.payload.ullValue = 1ull << 40;
    nvtxDomainRangePushEx(domain, &told), work(), nvtxDomainRangePop(domain);
    told = event("read");
    told.category = 3, told.colorType = NVTX_COLOR_ARGB, told.color = 0xff00ff00;
    told.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE, told.payload.dValue = 0.5;
    nvtxRangePushEx(&told), work(), nvtxRangePop();
    told = event("int");
    told.payloadType = NVTX_PAYLOAD_TYPE_INT32, told.payload.iValue = -7;
    nvtxMarkEx(&told);
    nvtxRangePop();
    sprintf(text, "loss %ld", k);
    nvtxMarkA(text), nvtxMarkA("");
    nvtxRangeEnd(epoch);
}

int main(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "ncclAllReduce");
    nvtxNameCategoryA(3, "io"), nvtxDomainNameCategoryA(domain, 4, "wire");
    nvtxNameOsThread(syscall(SYS_gettid), "trainer");
    for (long k = 0; k < 3; k++) step(k, domain, registered);
    nvtxRangePushA(""), work(), nvtxRangePop();
    nvtxRangePop(); /* one too many */
    nvtxRangeStartA("never ended"), nvtxRangePushA("never popped");
    return 0;
}
