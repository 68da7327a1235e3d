/* The C predict API of MXNet 1.9.1 over Symbind's Predictor: programs written for it compile and
 * run against libsymbind unedited. Plain C.
 * Every function returns 0, or -1 after a failure; MXGetLastError() then says what went wrong in
 * this thread. Null pointers and handles that were freed are failures, not crashes. A handle may be
 * used by one thread at a time; different handles, also those that share weights (MXPredReshape,
 * MXPredCreateMultiThread), by different threads at once. */
#ifndef MXNET_C_PREDICT_API_H_
#define MXNET_C_PREDICT_API_H_

/* NOLINTBEGIN(modernize-*): this is C */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MXNET_DLL
#define MXNET_DLL
#endif

typedef uint32_t mx_uint;
typedef float mx_float;
typedef void* PredictorHandle;
typedef void* NDListHandle;
typedef void* NDArrayHandle;

/* The last failure of this thread; "" before the first. Valid until the next failure. */
MXNET_DLL const char* MXGetLastError(void);

/* A predictor from a symbol's JSON text and the bytes of a .params file.
 * dev_type: 1 the CPU, 2 a GPU. Input i is called input_keys[i]; its shape is
 * input_shape_data[input_shape_indptr[i]] up to input_shape_data[input_shape_indptr[i + 1]].
 * Arguments that are neither parameters nor listed here, such as labels, are zeros. */
MXNET_DLL int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, PredictorHandle* out);

/* The same with the element types of arguments that are not parameters: MXNet's numbers, 0 float32,
 * 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6 int64. */
MXNET_DLL int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                             int dev_type, int dev_id, const uint32_t num_input_nodes,
                             const char** input_keys, const uint32_t* input_shape_indptr,
                             const uint32_t* input_shape_data,
                             const uint32_t num_provided_arg_dtypes,
                             const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                             PredictorHandle* out);

/* The same with other outputs: output_keys are names of internal nodes ("flatten0"). */
MXNET_DLL int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes,
                                     int param_size, int dev_type, int dev_id,
                                     uint32_t num_input_nodes, const char** input_keys,
                                     const uint32_t* input_shape_indptr,
                                     const uint32_t* input_shape_data, uint32_t num_output_nodes,
                                     const char** output_keys, PredictorHandle* out);

/* num_threads predictors over one set of weights, one for each thread; out must hold them. */
MXNET_DLL int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes,
                                      int param_size, int dev_type, int dev_id,
                                      uint32_t num_input_nodes, const char** input_keys,
                                      const uint32_t* input_shape_indptr,
                                      const uint32_t* input_shape_data, int num_threads,
                                      PredictorHandle* out);

/* Another predictor over the same weights for other input shapes. Both stay valid; free both. */
MXNET_DLL int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                            const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                            PredictorHandle handle, PredictorHandle* out);

/* The shape of an output; the pointer is valid until the next call with this handle. */
MXNET_DLL int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                                   uint32_t* shape_ndim);
/* The element type of an output, by MXNet's numbers. */
MXNET_DLL int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype);

/* Copies an input in. size counts elements; they are of the input's own type. */
MXNET_DLL int MXPredSetInput(PredictorHandle handle, const char* key, const float* data,
                             uint32_t size);
MXNET_DLL int MXPredForward(PredictorHandle handle);
/* One step of a forward pass: call it with step 0, 1, … until *step_left is 0. */
MXNET_DLL int MXPredPartialForward(PredictorHandle handle, int step, int* step_left);
/* Copies an output out. size counts elements; they are of the output's own type. */
MXNET_DLL int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size);
MXNET_DLL int MXPredFree(PredictorHandle handle);

/* The arrays of a .params file's bytes, such as a mean image, as float32. */
MXNET_DLL int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                             uint32_t* out_length);
/* One of them; the pointers are valid until the list is freed. */
MXNET_DLL int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key,
                          const float** out_data, const uint32_t** out_shape, uint32_t* out_ndim);
MXNET_DLL int MXNDListFree(NDListHandle handle);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*) */

#endif /* MXNET_C_PREDICT_API_H_ */
