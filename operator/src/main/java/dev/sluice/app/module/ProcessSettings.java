package dev.sluice.app.module;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The process in which an operator runs.
 *
 * @param identity who this process is: unlike any other, past ones included
 * @param hosts names and addresses by which the API server reaches this process
 * @param webhookClientAuthority PEM file of the authorities whose clients the webhooks answer about
 *     admission; all clients are answered when empty
 * @param fatal called with the reason when the process has to end: it has lost its lease, or has
 *     failed in a way that only a new start can mend
 * @param again called with the reason when the operator has to be closed and started anew
 */
public record ProcessSettings(
    String identity,
    List<String> hosts,
    Optional<Path> webhookClientAuthority,
    Consumer<String> fatal,
    Consumer<String> again) {

  /**
   * The name of the pod in which this process runs. The shipped manifests tell the name; elsewhere
   * it is that of the host, which is the node's where the pod uses its network.
   *
   * @return the name; empty if the environment tells none
   */
  public static Optional<String> ownPod() {
    return Stream.of("POD_NAME", "HOSTNAME")
        .map(System::getenv)
        .filter(name -> name != null && !name.isEmpty())
        .findFirst();
  }
}
