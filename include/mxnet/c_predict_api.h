/* Where programs written for MXNet look for it. */
#include <symbind/c_predict_api.h>
