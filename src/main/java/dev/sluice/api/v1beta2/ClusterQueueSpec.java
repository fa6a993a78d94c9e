package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.LabelSelector;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
}
