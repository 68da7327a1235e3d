#pragma once
// Everything a program needs: `#include <symbind/symbind.h>`.

#include <symbind/attributes.h>
#include <symbind/context.h>
#include <symbind/custom.h>
#include <symbind/dtype.h>
#include <symbind/error.h>
#include <symbind/executor.h>
#include <symbind/io.h>
#include <symbind/kernel.h>
#include <symbind/key.h>
#include <symbind/log.h>
#include <symbind/lr_scheduler.h>
#include <symbind/ndarray.h>
#include <symbind/operator.h>
#include <symbind/ops.h>
#include <symbind/optimizer.h>
#include <symbind/random.h>
#include <symbind/rules.h>
#include <symbind/runtime.h>
#include <symbind/shape.h>
#include <symbind/states.h>
#include <symbind/symbol.h>
