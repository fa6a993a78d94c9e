package dev.sluice.api.v1alpha2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import dev.sluice.api.v1beta2.QueueingStrategy;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.LabelSelector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a cluster queue offers, to whom, and in which order it is handed out. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClusterQueueSpec(
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Cohort this queue belongs to. Queues of one cohort may use quota that "
                + "others leave idle. The name may be one for which no Cohort object exists.")
        @Nullable String cohort,
    @JsonPropertyDescription(
            "Namespaces whose workloads may be admitted here. Absent matches no "
                + "namespace; an empty selector matches every namespace.")
        @Nullable LabelSelector namespaceSelector,
    @Default("BestEffortFIFO")
        @JsonPropertyDescription(
            "Order of admission. StrictFIFO: the head of the queue blocks those behind "
                + "it. BestEffortFIFO: a head that doesn't fit is set aside and those behind "
                + "it are tried.")
        QueueingStrategy queueingStrategy,
    @Size(max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Quota by resource, each with the flavors it may come from in order of "
                + "preference. Resources that list the same flavors in the same order are "
                + "assigned together.")
        List<Resource> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueueSpec {
    queueingStrategy = Defaults.or(queueingStrategy, QueueingStrategy.BEST_EFFORT_FIFO);
    resources = Defaults.orEmpty(resources);
  }
}
