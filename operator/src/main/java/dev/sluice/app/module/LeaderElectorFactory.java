package dev.sluice.app.module;

import dev.sluice.api.config.Configuration;
import dev.sluice.kube.leader.KubernetesLeaseStore;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.leader.SharedObjectsGuard;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.InstantSource;

/** Makes what works with the lease that the configuration names. */
public final class LeaderElectorFactory {

  private static final Duration LEASE_TIMEOUT = Duration.ofSeconds(5);

  private LeaderElectorFactory() {}

  /** An elector that isn't started, of a process with this identity. */
  public static LeaseElector elector(
      Configuration configuration,
      KubernetesClient client,
      InstantSource clock,
      String identity,
      Leadership.Listener listener) {
    var election = configuration.leaderElection();
    return new LeaseElector(
        new LeaseElector.Settings(
            identity, election.leaseDuration(), election.renewDeadline(), election.retryPeriod()),
        store(configuration, client),
        clock,
        System::nanoTime,
        listener);
  }

  /** Says whether what all operators of the API share may be written. */
  static SharedObjectsGuard guard(Configuration configuration, KubernetesClient client) {
    return new SharedObjectsGuard(
        store(configuration, client),
        System::nanoTime,
        configuration.leaderElection().leaseDuration());
  }

  /** Says whether any operator of the API, this one included, renews the lease. */
  public static SharedObjectsGuard guardAgainstAnyOperator(
      Configuration configuration, KubernetesClient client) {
    return SharedObjectsGuard.againstAnyOperator(
        store(configuration, client),
        System::nanoTime,
        configuration.leaderElection().leaseDuration());
  }

  private static KubernetesLeaseStore store(Configuration configuration, KubernetesClient client) {
    var election = configuration.leaderElection();
    return new KubernetesLeaseStore(
        client,
        election.resourceNamespace().isEmpty()
            ? configuration.namespace()
            : election.resourceNamespace(),
        election.resourceName(),
        LEASE_TIMEOUT);
  }
}
