package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.LabelSelector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a cluster queue offers, to whom, and in which order it is handed out. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "has(self.cohortName) || !has(self.resourceGroups) || "
            + "self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, "
            + "!has(r.borrowingLimit))))",
    message = "borrowingLimit is allowed only if cohortName is set",
    fieldPath = ".resourceGroups")
@ValidationRule(
    value =
        "has(self.cohortName) || !has(self.resourceGroups) || "
            + "self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, "
            + "!has(r.lendingLimit))))",
    message = "lendingLimit is allowed only if cohortName is set",
    fieldPath = ".resourceGroups")
@ValidationRule(
    value =
        "!has(self.resourceGroups) || self.resourceGroups.map(g, "
            + "size(g.flavors)).sum() <= 256",
    messageExpression =
        "'there may be 256 flavors over all groups at most, here are "
            + "%d'.format([self.resourceGroups.map(g, size(g.flavors)).sum()])",
    fieldPath = ".resourceGroups")
@ValidationRule(
    value =
        "!has(self.resourceGroups) || self.resourceGroups.map(g, "
            + "size(g.coveredResources)).sum() <= 256",
    messageExpression =
        "'there may be 256 coveredResources over all groups at most, here are "
            + "%d'.format([self.resourceGroups.map(g, size(g.coveredResources)).sum()])",
    fieldPath = ".resourceGroups")
@ValidationRule(
    value =
        "!has(self.resourceGroups) || self.resourceGroups.all(g, size(g.flavors) * "
            + "size(g.coveredResources) <= 512)",
    message = "flavors times coveredResources may be 512 in one group at most",
    fieldPath = ".resourceGroups")
public record ClusterQueueSpec(
    @JsonPropertyDescription(
            "Admission checks that a workload has to pass after it got quota here, each "
                + "for all flavors or for some.")
        @Nullable AdmissionChecksStrategy admissionChecksStrategy,
    @JsonPropertyDescription(
            "Whether past usage of the local queues, rather than priority and age alone, "
                + "orders the workloads of this queue. Absent means priority and age.")
        @Nullable AdmissionScope admissionScope,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Cohort this queue belongs to. Queues of one cohort, and of the cohorts "
                + "below and above it, may use quota that others leave idle. The name may be "
                + "one for which no Cohort object exists.")
        @Nullable String cohortName,
    @JsonPropertyDescription(
            "Lets a workload be tried on several flavors at once. Honoured only when the "
                + "feature gate ConcurrentAdmission is on; it can't be added, changed or "
                + "removed later.")
        @Nullable ConcurrentAdmissionPolicy concurrentAdmissionPolicy,
    @ValidationRule(
            value =
                "!has(self.weight) || (type(self.weight) == int ? self.weight >= 0 : "
                    + "!self.weight.startsWith('-'))",
            messageExpression = "'weight must be 0 or more, here it is %s'.format([self.weight])",
            fieldPath = ".weight")
        @ValidationRule(
            value =
                "!has(self.weight) || type(self.weight) == int || !isQuantity(self.weight) "
                    + "|| self.weight.startsWith('-') || "
                    + "quantity(self.weight).compareTo(quantity('0')) == 0 || "
                    + "quantity(self.weight).isGreaterThan(quantity('1n'))",
            messageExpression =
                "'weight must be 0 or more than 1n, here it is %s'.format([self.weight])",
            fieldPath = ".weight")
        @JsonPropertyDescription(
            "Weight of this queue when idle quota of the cohort is shared fairly.")
        @Nullable FairSharing fairSharing,
    @Default("{}")
        @JsonPropertyDescription(
            "What to do when a flavor would be usable only by borrowing or by "
                + "preempting: stop there or look at the next flavor.")
        FlavorFungibility flavorFungibility,
    @JsonPropertyDescription(
            "Namespaces whose workloads may be admitted here. Absent matches no "
                + "namespace; an empty selector matches every namespace.")
        @Nullable LabelSelector namespaceSelector,
    @Default("{}")
        @JsonPropertyDescription(
            "Which running workloads may be stopped to make room for a waiting one.")
        ClusterQueuePreemption preemption,
    @Default("BestEffortFIFO")
        @JsonPropertyDescription(
            "Order of admission. StrictFIFO: the head of the queue blocks those behind "
                + "it. BestEffortFIFO: a head that doesn't fit is set aside and those behind "
                + "it are tried.")
        QueueingStrategy queueingStrategy,
    @Size(max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Quota of this queue. A resource belongs to one group only, and so does a "
                + "flavor. At most 256 flavors and 256 resources over all groups, and 512 "
                + "pairs of them in one group.")
        List<ResourceGroup> resourceGroups,
    @Default("None")
        @JsonPropertyDescription(
            "None: open. Hold: nothing new is admitted, and what has only reserved quota "
                + "gives it back; running workloads stay. HoldAndDrain: running workloads are "
                + "evicted too.")
        StopPolicy stopPolicy) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueueSpec {
    flavorFungibility = Defaults.or(flavorFungibility, FlavorFungibility.DEFAULT);
    preemption = Defaults.or(preemption, ClusterQueuePreemption.DEFAULT);
    queueingStrategy = Defaults.or(queueingStrategy, QueueingStrategy.BEST_EFFORT_FIFO);
    resourceGroups = Defaults.orEmpty(resourceGroups);
    stopPolicy = Defaults.or(stopPolicy, StopPolicy.NONE);
  }

  /** A builder on which nothing is set yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this value. */
  public Builder toBuilder() {
    return new Builder()
        .admissionChecksStrategy(admissionChecksStrategy)
        .admissionScope(admissionScope)
        .cohortName(cohortName)
        .concurrentAdmissionPolicy(concurrentAdmissionPolicy)
        .fairSharing(fairSharing)
        .flavorFungibility(flavorFungibility)
        .namespaceSelector(namespaceSelector)
        .preemption(preemption)
        .queueingStrategy(queueingStrategy)
        .resourceGroups(resourceGroups)
        .stopPolicy(stopPolicy);
  }

  /**
   * Collects the parts of a {@link ClusterQueueSpec}; each method is named after the field it sets.
   */
  public static final class Builder {
    private @Nullable AdmissionChecksStrategy admissionChecksStrategy;
    private @Nullable AdmissionScope admissionScope;
    private @Nullable String cohortName;
    private @Nullable ConcurrentAdmissionPolicy concurrentAdmissionPolicy;
    private @Nullable FairSharing fairSharing;
    private FlavorFungibility flavorFungibility = FlavorFungibility.DEFAULT;
    private @Nullable LabelSelector namespaceSelector;
    private ClusterQueuePreemption preemption = ClusterQueuePreemption.DEFAULT;
    private QueueingStrategy queueingStrategy = QueueingStrategy.BEST_EFFORT_FIFO;
    private List<ResourceGroup> resourceGroups = List.of();
    private StopPolicy stopPolicy = StopPolicy.NONE;

    private Builder() {}

    /** Sets the field of this name; null for absent. */
    public Builder admissionChecksStrategy(
        @Nullable AdmissionChecksStrategy admissionChecksStrategy) {
      this.admissionChecksStrategy = admissionChecksStrategy;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder admissionScope(@Nullable AdmissionScope admissionScope) {
      this.admissionScope = admissionScope;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder cohortName(@Nullable String cohortName) {
      this.cohortName = cohortName;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder concurrentAdmissionPolicy(
        @Nullable ConcurrentAdmissionPolicy concurrentAdmissionPolicy) {
      this.concurrentAdmissionPolicy = concurrentAdmissionPolicy;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder fairSharing(@Nullable FairSharing fairSharing) {
      this.fairSharing = fairSharing;
      return this;
    }

    /** Sets the field of this name. */
    public Builder flavorFungibility(FlavorFungibility flavorFungibility) {
      this.flavorFungibility = flavorFungibility;
      return this;
    }

    /** Sets the field of this name; null for absent. */
    public Builder namespaceSelector(@Nullable LabelSelector namespaceSelector) {
      this.namespaceSelector = namespaceSelector;
      return this;
    }

    /** Sets the field of this name. */
    public Builder preemption(ClusterQueuePreemption preemption) {
      this.preemption = preemption;
      return this;
    }

    /** Sets the field of this name. */
    public Builder queueingStrategy(QueueingStrategy queueingStrategy) {
      this.queueingStrategy = queueingStrategy;
      return this;
    }

    /** Sets the field of this name. */
    public Builder resourceGroups(List<ResourceGroup> resourceGroups) {
      this.resourceGroups = resourceGroups;
      return this;
    }

    /** Sets the field of this name. */
    public Builder stopPolicy(StopPolicy stopPolicy) {
      this.stopPolicy = stopPolicy;
      return this;
    }

    /** The value. What the API requires has to be set. */
    public ClusterQueueSpec build() {
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
          resourceGroups,
          stopPolicy);
    }
  }
}
