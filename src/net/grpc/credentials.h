#pragma once
// Plain connections, or mutual TLS where the job names certificates.

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "net/job.h"

namespace symbind::net {

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Job& job);
std::shared_ptr<grpc::ChannelCredentials> member_credentials(const Job& job);

}  // namespace symbind::net
