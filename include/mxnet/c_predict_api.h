/* The path that programs written for MXNet include. */
#include <symbind/c_predict_api.h>
