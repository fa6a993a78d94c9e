package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueStatus;
import dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode;
import dev.sluice.api.v1beta2.FairSharing.FairSharingStatus;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A pool of quota, with the rules by which it is handed out. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
@Plural("clusterqueues")
public final class ClusterQueue extends EmptyResource<ClusterQueueSpec, ClusterQueueStatus> {

  /** Makes an object that has metadata and no spec or status. */
  public ClusterQueue() {}

  /** What a cluster queue offers, to whom, and in which order it is handed out. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ClusterQueueSpec(
      @Nullable AdmissionChecksStrategy admissionChecksStrategy,
      @Nullable AdmissionScope admissionScope,
      @Nullable String cohortName,
      @Nullable ConcurrentAdmissionPolicy concurrentAdmissionPolicy,
      @Nullable FairSharing fairSharing,
      FlavorFungibility flavorFungibility,
      @Nullable LabelSelector namespaceSelector,
      ClusterQueuePreemption preemption,
      QueueingStrategy queueingStrategy,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ResourceGroup> resourceGroups,
      StopPolicy stopPolicy) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public ClusterQueueSpec {
      flavorFungibility = Defaults.or(flavorFungibility, FlavorFungibility.DEFAULT);
      preemption = Defaults.or(preemption, ClusterQueuePreemption.DEFAULT);
      queueingStrategy = Defaults.or(queueingStrategy, QueueingStrategy.BEST_EFFORT_FIFO);
      resourceGroups = Defaults.orEmpty(resourceGroups);
      stopPolicy = Defaults.or(stopPolicy, StopPolicy.NONE);
    }

    /** The same specification with other quotas. */
    public ClusterQueueSpec with(List<ResourceGroup> others) {
      return new ClusterQueueSpec(
          admissionChecksStrategy,
          admissionScope,
          cohortName,
          concurrentAdmissionPolicy,
          fairSharing,
          flavorFungibility,
          namespaceSelector,
          preemption,
          queueingStrategy,
          others,
          stopPolicy);
    }
  }

  /** What a cluster queue holds at present. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ClusterQueueStatus(
      @Nullable Integer admittedWorkloads,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions,
      @Nullable EffectiveQuotas effectiveQuotas,
      @Nullable FairSharingStatus fairSharing,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<FlavorUsage> flavorsReservation,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<FlavorUsage> flavorsUsage,
      @Nullable Integer pendingWorkloads,
      @Nullable Integer reservingWorkloads) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public ClusterQueueStatus {
      conditions = Defaults.orEmpty(conditions);
      flavorsReservation = Defaults.orEmpty(flavorsReservation);
      flavorsUsage = Defaults.orEmpty(flavorsUsage);
    }

    /** The same status with other conditions. */
    public ClusterQueueStatus withConditions(List<Condition> others) {
      return new ClusterQueueStatus(
          admittedWorkloads,
          others,
          effectiveQuotas,
          fairSharing,
          flavorsReservation,
          flavorsUsage,
          pendingWorkloads,
          reservingWorkloads);
    }

    /** The same status with other effective quotas, or none. */
    public ClusterQueueStatus with(@Nullable EffectiveQuotas others) {
      return new ClusterQueueStatus(
          admittedWorkloads,
          conditions,
          others,
          fairSharing,
          flavorsReservation,
          flavorsUsage,
          pendingWorkloads,
          reservingWorkloads);
    }
  }

  /** Which running workloads a waiting one may stop. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ClusterQueuePreemption(
      BorrowWithinCohort borrowWithinCohort,
      ReclaimWithinCohortPolicy reclaimWithinCohort,
      WithinClusterQueuePolicy withinClusterQueue) {

    /** What holds when nothing is said. */
    public static final ClusterQueuePreemption DEFAULT =
        new ClusterQueuePreemption(
            BorrowWithinCohort.DEFAULT,
            ReclaimWithinCohortPolicy.NEVER,
            WithinClusterQueuePolicy.NEVER);

    /** Takes what is absent for its default; lists and maps become immutable. */
    public ClusterQueuePreemption {
      borrowWithinCohort = Defaults.or(borrowWithinCohort, BorrowWithinCohort.DEFAULT);
      reclaimWithinCohort = Defaults.or(reclaimWithinCohort, ReclaimWithinCohortPolicy.NEVER);
      withinClusterQueue = Defaults.or(withinClusterQueue, WithinClusterQueuePolicy.NEVER);
    }
  }

  /** Whether a workload that has to borrow may stop those of other queues. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BorrowWithinCohort(
      @Nullable Integer maxPriorityThreshold, BorrowWithinCohortPolicy policy) {

    /** What holds when nothing is said. */
    public static final BorrowWithinCohort DEFAULT =
        new BorrowWithinCohort(null, BorrowWithinCohortPolicy.NEVER);

    /** Takes what is absent for its default; lists and maps become immutable. */
    public BorrowWithinCohort {
      policy = Defaults.or(policy, BorrowWithinCohortPolicy.NEVER);
    }
  }

  /**
   * Whether a workload that has to borrow may stop others. The constants are named as in the API.
   */
  public enum BorrowWithinCohortPolicy {
    /** {@code Never}. */
    @JsonProperty("Never")
    NEVER,
    /** {@code LowerPriority}. */
    @JsonProperty("LowerPriority")
    LOWER_PRIORITY
  }

  /**
   * Which borrowers of the cohort a queue may stop to get its own quota back. The constants are
   * named as in the API.
   */
  public enum ReclaimWithinCohortPolicy {
    /** {@code Never}. */
    @JsonProperty("Never")
    NEVER,
    /** {@code LowerPriority}. */
    @JsonProperty("LowerPriority")
    LOWER_PRIORITY,
    /** {@code Any}. */
    @JsonProperty("Any")
    ANY
  }

  /**
   * Which workloads of its own queue a waiting one may stop. The constants are named as in the API.
   */
  public enum WithinClusterQueuePolicy {
    /** {@code Never}. */
    @JsonProperty("Never")
    NEVER,
    /** {@code LowerPriority}. */
    @JsonProperty("LowerPriority")
    LOWER_PRIORITY,
    /** {@code LowerOrNewerEqualPriority}. */
    @JsonProperty("LowerOrNewerEqualPriority")
    LOWER_OR_NEWER_EQUAL_PRIORITY
  }

  /** In which order a queue admits. The constants are named as in the API. */
  public enum QueueingStrategy {
    /** {@code StrictFIFO}. */
    @JsonProperty("StrictFIFO")
    STRICT_FIFO,
    /** {@code BestEffortFIFO}. */
    @JsonProperty("BestEffortFIFO")
    BEST_EFFORT_FIFO
  }

  /** How a workload is tried on several flavors at once. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ConcurrentAdmissionPolicy(ConcurrentAdmissionMigration migration) {}

  /**
   * Whether a running workload moves to a preferred flavor. The constants are named as in the API.
   */
  public enum ConcurrentAdmissionMode {
    /** {@code TryPreferredFlavors}. */
    @JsonProperty("TryPreferredFlavors")
    TRY_PREFERRED_FLAVORS,
    /** {@code RetainFirstAdmission}. */
    @JsonProperty("RetainFirstAdmission")
    RETAIN_FIRST_ADMISSION
  }

  /** When a running workload moves to a preferred flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ConcurrentAdmissionMigration(
      ConcurrentAdmissionMode mode,
      @Nullable ConcurrentAdmissionMigrationConstraints constraints) {}

  /** Limits of moves to a preferred flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ConcurrentAdmissionMigrationConstraints(
      @Nullable String lastAcceptableFlavorName) {}

  /** The admission checks of a cluster queue. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionChecksStrategy(
      @JsonInclude(JsonInclude.Include.ALWAYS) List<AdmissionCheckStrategyRule> admissionChecks) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public AdmissionChecksStrategy {
      admissionChecks = Defaults.orEmpty(admissionChecks);
    }
  }

  /** One admission check of a cluster queue and the flavors it is for. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionCheckStrategyRule(
      String name, @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> onFlavors) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public AdmissionCheckStrategyRule {
      name = Defaults.or(name, "");
      onFlavors = Defaults.orEmpty(onFlavors);
    }
  }

  /**
   * What orders the workloads of a cluster queue besides priority and age. The schema of v1beta1
   * takes any mode; an unknown one is taken for absent, so that the queue stays readable.
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionScope(
      @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
          @Nullable AdmissionMode admissionMode) {}

  /** Whether past usage orders admission. The constants are named as in the API. */
  public enum AdmissionMode {
    /** {@code UsageBasedAdmissionFairSharing}. */
    @JsonProperty("UsageBasedAdmissionFairSharing")
    USAGE_BASED_ADMISSION_FAIR_SHARING,
    /** {@code NoAdmissionFairSharing}. */
    @JsonProperty("NoAdmissionFairSharing")
    NO_ADMISSION_FAIR_SHARING
  }

  /** When the search for a flavor stops at one that would need borrowing or preemption. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record FlavorFungibility(
      @Nullable FlavorFungibilityPreference preference,
      FlavorFungibilityPolicy whenCanBorrow,
      FlavorFungibilityPolicy whenCanPreempt) {

    /** What holds when nothing is said. */
    public static final FlavorFungibility DEFAULT =
        new FlavorFungibility(
            null, FlavorFungibilityPolicy.MAY_STOP_SEARCH, FlavorFungibilityPolicy.TRY_NEXT_FLAVOR);

    /** Takes what is absent for its default; lists and maps become immutable. */
    public FlavorFungibility {
      whenCanBorrow = Defaults.or(whenCanBorrow, FlavorFungibilityPolicy.MAY_STOP_SEARCH);
      whenCanPreempt = Defaults.or(whenCanPreempt, FlavorFungibilityPolicy.TRY_NEXT_FLAVOR);
    }
  }

  /**
   * Whether the search for a flavor stops at one that needs borrowing or preemption. The constants
   * are named as in the API.
   */
  public enum FlavorFungibilityPolicy {
    /** {@code MayStopSearch}. */
    @JsonProperty("MayStopSearch")
    MAY_STOP_SEARCH,
    /** {@code TryNextFlavor}. */
    @JsonProperty("TryNextFlavor")
    TRY_NEXT_FLAVOR
  }

  /** Which is the lesser evil when no flavor fits freely. The constants are named as in the API. */
  public enum FlavorFungibilityPreference {
    /** {@code BorrowingOverPreemption}. */
    @JsonProperty("BorrowingOverPreemption")
    BORROWING_OVER_PREEMPTION,
    /** {@code PreemptionOverBorrowing}. */
    @JsonProperty("PreemptionOverBorrowing")
    PREEMPTION_OVER_BORROWING
  }

  /** What is in use of one flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record FlavorUsage(
      String name, @JsonInclude(JsonInclude.Include.ALWAYS) List<ResourceUsage> resources) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public FlavorUsage {
      resources = Defaults.orEmpty(resources);
    }
  }

  /** What is in use of one resource of one flavor. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ResourceUsage(String name, @Nullable Quantity borrowed, @Nullable Quantity total) {}

  /**
   * Whether a queue admits, and what becomes of what it has admitted. The constants are named as in
   * the API.
   */
  public enum StopPolicy {
    /** {@code None}. */
    @JsonProperty("None")
    NONE,
    /** {@code Hold}. */
    @JsonProperty("Hold")
    HOLD,
    /** {@code HoldAndDrain}. */
    @JsonProperty("HoldAndDrain")
    HOLD_AND_DRAIN
  }
}
