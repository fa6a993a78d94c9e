package dev.sluice.core.model;

import java.math.BigDecimal;
import java.util.List;

/**
 * A ClusterQueue as the engine knows it.
 *
 * @param name its name
 * @param cohort its cohort; empty when it has none
 * @param groups its resource groups
 * @param strategy how its head may block those behind
 * @param namespaceSelector the namespaces that may use it
 * @param stopPolicy whether it admits
 * @param terminating whether it is being deleted
 * @param preemption whom it may preempt
 * @param fungibility when the search stops at a flavor
 * @param fairWeight its weight where idle quota is shared fairly; not negative
 * @param admissionChecks names of the checks that it asks for
 * @param problems further reasons, found outside the engine, why it can't be active
 * @param ignoresUndeclared whether requests for resources that its groups don't cover are ignored,
 *     instead of keeping a Workload out
 * @param takesTurnsByUse whether its LocalQueues come in the order of what they used so far, where
 *     that is reckoned
 */
public record ClusterQueueSpec(
    String name,
    String cohort,
    List<ResourceGroup> groups,
    QueueingStrategy strategy,
    LabelSelector namespaceSelector,
    StopPolicy stopPolicy,
    boolean terminating,
    PreemptionPolicies preemption,
    FlavorFungibility fungibility,
    BigDecimal fairWeight,
    List<String> admissionChecks,
    List<InactiveReason> problems,
    boolean ignoresUndeclared,
    boolean takesTurnsByUse) {

  public ClusterQueueSpec {
    groups = List.copyOf(groups);
    fairWeight = fairWeight.stripTrailingZeros();
    admissionChecks = List.copyOf(admissionChecks);
    problems = List.copyOf(problems);
  }

  /** One of weight 1 that keeps out who requests what it doesn't cover. */
  public ClusterQueueSpec(
      String name,
      String cohort,
      List<ResourceGroup> groups,
      QueueingStrategy strategy,
      LabelSelector namespaceSelector,
      StopPolicy stopPolicy,
      boolean terminating,
      PreemptionPolicies preemption,
      FlavorFungibility fungibility,
      List<String> admissionChecks,
      List<InactiveReason> problems) {
    this(
        name,
        cohort,
        groups,
        strategy,
        namespaceSelector,
        stopPolicy,
        terminating,
        preemption,
        fungibility,
        BigDecimal.ONE,
        admissionChecks,
        problems,
        false);
  }

  /** One whose LocalQueues don't take turns by what they used. */
  public ClusterQueueSpec(
      String name,
      String cohort,
      List<ResourceGroup> groups,
      QueueingStrategy strategy,
      LabelSelector namespaceSelector,
      StopPolicy stopPolicy,
      boolean terminating,
      PreemptionPolicies preemption,
      FlavorFungibility fungibility,
      BigDecimal fairWeight,
      List<String> admissionChecks,
      List<InactiveReason> problems,
      boolean ignoresUndeclared) {
    this(
        name,
        cohort,
        groups,
        strategy,
        namespaceSelector,
        stopPolicy,
        terminating,
        preemption,
        fungibility,
        fairWeight,
        admissionChecks,
        problems,
        ignoresUndeclared,
        false);
  }

  /** The same queue, with requests for what it doesn't cover ignored. */
  public ClusterQueueSpec ignoringUndeclared() {
    return new ClusterQueueSpec(
        name,
        cohort,
        groups,
        strategy,
        namespaceSelector,
        stopPolicy,
        terminating,
        preemption,
        fungibility,
        fairWeight,
        admissionChecks,
        problems,
        true,
        takesTurnsByUse);
  }

  /** The same queue, whose LocalQueues take turns by what they used. */
  public ClusterQueueSpec takingTurnsByUse() {
    return new ClusterQueueSpec(
        name,
        cohort,
        groups,
        strategy,
        namespaceSelector,
        stopPolicy,
        terminating,
        preemption,
        fungibility,
        fairWeight,
        admissionChecks,
        problems,
        ignoresUndeclared,
        true);
  }

  /** How the head of a queue that doesn't fit treats those behind it. */
  public enum QueueingStrategy {
    STRICT_FIFO,
    BEST_EFFORT_FIFO
  }

  /** Whether a queue admits: freely, no more, or no more and those admitted are sent back. */
  public enum StopPolicy {
    NONE,
    HOLD,
    HOLD_AND_DRAIN
  }
}
