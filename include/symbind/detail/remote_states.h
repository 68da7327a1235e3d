#pragma once
// Optimizers and their states on the servers of dist_async.

#include <memory>
#include <string>

#include <symbind/detail/remote_updates.h>
#include <symbind/optimizer.h>

namespace symbind {

/// The optimizer as servers get it. One that is not the library's goes by its class name.
SentOptimizer sent_optimizer(Optimizer& optimizer);
/// The update of a server. A class that is not the library's is made by `custom`, or, without it,
/// is one that was registered with register_optimizer.
ServerUpdate make_server_update(const MakeServerUpdate& custom, const std::string& name,
                                const std::string& text);

/// The states of all servers and the optimizer with their counts, as Updater::get_states(true)
/// writes them.
std::string remote_states(RemoteUpdates& remote);
/// Gives the servers the states that Updater::get_states writes.
void set_remote_states(RemoteUpdates& remote, const std::string& bytes);

/// The updater gets the states and counts of the servers; the servers get those of the updater.
void fetch_states(RemoteUpdates& remote, Updater& updater);
void send_states(RemoteUpdates& remote, Updater& updater);

}  // namespace symbind
