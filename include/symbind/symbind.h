#pragma once
// Everything a program needs: `#include <symbind/symbind.h>`.

#include <symbind/attributes.h>
#include <symbind/callback.h>
#include <symbind/context.h>
#include <symbind/custom.h>
#include <symbind/datasets.h>
#include <symbind/dtype.h>
#include <symbind/error.h>
#include <symbind/executor.h>
#include <symbind/initializer.h>
#include <symbind/io.h>
#include <symbind/kernel.h>
#include <symbind/log.h>
#include <symbind/metric.h>
#include <symbind/monitor.h>
#include <symbind/models.h>
#include <symbind/ndarray.h>
#include <symbind/operator.h>
#include <symbind/ops.h>
#include <symbind/random.h>
#include <symbind/recordio.h>
#include <symbind/rules.h>
#include <symbind/runtime.h>
#include <symbind/sentences.h>
#include <symbind/shape.h>
#include <symbind/symbol.h>
