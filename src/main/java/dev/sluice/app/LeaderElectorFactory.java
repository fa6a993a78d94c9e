package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.kube.leader.KubernetesLeaseStore;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.InstantSource;

/** Makes the elector that the configuration asks for. */
final class LeaderElectorFactory {

  private static final Duration LEASE_TIMEOUT = Duration.ofSeconds(5);

  private LeaderElectorFactory() {}

  /** An elector that isn't started, of a process with this identity. */
  static LeaseElector elector(
      Configuration configuration,
      KubernetesClient client,
      InstantSource clock,
      String identity,
      Leadership.Listener listener) {
    var election = configuration.leaderElection();
    return new LeaseElector(
        new LeaseElector.Settings(
            identity, election.leaseDuration(), election.renewDeadline(), election.retryPeriod()),
        new KubernetesLeaseStore(
            client,
            election.resourceNamespace().isEmpty()
                ? configuration.namespace()
                : election.resourceNamespace(),
            election.resourceName(),
            LEASE_TIMEOUT),
        clock,
        System::nanoTime,
        listener);
  }
}
