package dev.sluice.lab.process;

import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * What the configuration file of an operator that runs on this machine says.
 *
 * @param webhookHost the loopback address that serves webhooks
 * @param webhookPort serves webhooks, on that address
 * @param healthPort serves {@code /healthz} and {@code /readyz}, on the loopback address
 * @param metricsPort serves {@code /metrics}, on the loopback address
 * @param visibilityPort serves the visibility API
 * @param election the times of leader election
 * @param moreMetrics further fields of {@code metrics}, as YAML in flow style; may be empty
 * @param more further top level fields, as YAML; may be empty
 */
public record OperatorSettings(
    String webhookHost,
    int webhookPort,
    int healthPort,
    int metricsPort,
    int visibilityPort,
    ElectionTimes election,
    String moreMetrics,
    String more) {

  /**
   * The times of leader election.
   *
   * @param lease how long a leader that is not heard of stays leader
   * @param renewDeadline how long a leader tries to renew before it gives up
   * @param retryPeriod time between two tries to lead
   */
  public record ElectionTimes(Duration lease, Duration renewDeadline, Duration retryPeriod) {}

  /**
   * Ports that are free now, and a lease of 90 seconds: nobody starts a process of the laboratory
   * again when it ends, and a machine that was busy or asleep for some seconds is no reason to end.
   */
  public static OperatorSettings onFreePorts(RandomGenerator random) {
    List<Integer> ports = FreePorts.choose(4, random);
    return new OperatorSettings(
        "127.0.0.1",
        ports.get(0),
        ports.get(1),
        ports.get(2),
        ports.get(3),
        new ElectionTimes(Duration.ofSeconds(90), Duration.ofSeconds(80), Duration.ofSeconds(2)),
        "",
        "");
  }

  /**
   * The same with a lease of 20 seconds, for an operator that is killed: the next one waits at most
   * so long. A machine that stands still for less than 17 seconds doesn't end it.
   */
  public OperatorSettings withShortLease() {
    return withLeases(Duration.ofSeconds(20), Duration.ofSeconds(17), Duration.ofMillis(500));
  }

  /** The same with other times of leader election. */
  public OperatorSettings withLeases(
      Duration otherLease, Duration otherRenew, Duration otherRetry) {
    return new OperatorSettings(
        webhookHost,
        webhookPort,
        healthPort,
        metricsPort,
        visibilityPort,
        new ElectionTimes(otherLease, otherRenew, otherRetry),
        moreMetrics,
        more);
  }

  /** The same with webhooks at this loopback address and port. */
  public OperatorSettings withWebhooksAt(InetSocketAddress address) {
    return new OperatorSettings(
        address.getAddress().getHostAddress(),
        address.getPort(),
        healthPort,
        metricsPort,
        visibilityPort,
        election,
        moreMetrics,
        more);
  }

  /** The same with further top level fields, written as YAML. */
  public OperatorSettings with(String fields) {
    return new OperatorSettings(
        webhookHost,
        webhookPort,
        healthPort,
        metricsPort,
        visibilityPort,
        election,
        moreMetrics,
        fields);
  }

  /** The same with further fields of {@code metrics}, such as {@code a: true, b: false}. */
  public OperatorSettings withMetrics(String fields) {
    return new OperatorSettings(
        webhookHost, webhookPort, healthPort, metricsPort, visibilityPort, election, fields, more);
  }

  /** The configuration file. */
  public String yaml() {
    return """
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    webhook:
      host: %s
      port: %d
    health:
      healthProbeBindAddress: 127.0.0.1:%d
    metrics: {bindAddress: "127.0.0.1:%d"%s}
    visibilityServer:
      bindAddress: 127.0.0.1
      bindPort: %d
    leaderElection:
      leaderElect: true
      leaseDuration: %dms
      renewDeadline: %dms
      retryPeriod: %dms
    """
            .formatted(
                webhookHost,
                webhookPort,
                healthPort,
                metricsPort,
                moreMetrics.isEmpty() ? "" : ", " + moreMetrics,
                visibilityPort,
                election.lease().toMillis(),
                election.renewDeadline().toMillis(),
                election.retryPeriod().toMillis())
        + more;
  }
}
