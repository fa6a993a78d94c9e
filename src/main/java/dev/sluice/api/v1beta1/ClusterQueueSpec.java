package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import dev.sluice.api.v1beta2.ClusterQueuePreemption;
import dev.sluice.api.v1beta2.FairSharing;
import dev.sluice.api.v1beta2.QueueingStrategy;
import dev.sluice.api.v1beta2.StopPolicy;
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
        "has(self.cohort) || !has(self.resourceGroups) || self.resourceGroups.all(g, "
            + "g.flavors.all(f, f.resources.all(r, !has(r.borrowingLimit))))",
    message = "borrowingLimit is allowed only if cohort is set",
    fieldPath = ".resourceGroups")
@ValidationRule(
    value =
        "has(self.cohort) || !has(self.resourceGroups) || self.resourceGroups.all(g, "
            + "g.flavors.all(f, f.resources.all(r, !has(r.lendingLimit))))",
    message = "lendingLimit is allowed only if cohort is set",
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
        StopPolicy stopPolicy,
    @Items(maxLength = 316)
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Names of the admission checks that every workload of this queue has to "
                + "pass. Older form of admissionChecksStrategy; when both are given this one "
                + "counts.")
        List<String> admissionChecks,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Cohort this queue belongs to. Queues of one cohort may use quota that "
                + "others leave idle. The name may be one for which no Cohort object exists.")
        @Nullable String cohort) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueueSpec {
    flavorFungibility = Defaults.or(flavorFungibility, FlavorFungibility.DEFAULT);
    preemption = Defaults.or(preemption, ClusterQueuePreemption.DEFAULT);
    queueingStrategy = Defaults.or(queueingStrategy, QueueingStrategy.BEST_EFFORT_FIFO);
    resourceGroups = Defaults.orEmpty(resourceGroups);
    stopPolicy = Defaults.or(stopPolicy, StopPolicy.NONE);
    admissionChecks = Defaults.orEmpty(admissionChecks);
  }
}
