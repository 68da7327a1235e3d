#include "net/grpc/credentials.h"

#include "base/files.h"

namespace symbind::net {
namespace {

std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Job& job) {
  if (job.tls_certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = text_of(job.tls_authority);
  options.pem_key_cert_pairs = {{text_of(job.tls_key), text_of(job.tls_certificate)}};
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> member_credentials(const Job& job) {
  if (job.tls_certificate.empty()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials(
      {text_of(job.tls_authority), text_of(job.tls_key), text_of(job.tls_certificate)});
}

}  // namespace symbind::net
