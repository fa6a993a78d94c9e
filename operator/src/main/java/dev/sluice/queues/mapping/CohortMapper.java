package dev.sluice.queues.mapping;

import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.queues.mapping.ClusterQueueMapper.FairWeightParser;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Maps Cohorts to the scheduler's model. */
public final class CohortMapper {

  private CohortMapper() {}

  /** Maps a Cohort. */
  public static MappingResult<CohortSpec> translate(Cohort cohort) {
    dev.sluice.api.v1beta2.Cohort.CohortSpec spec = cohort.getSpec();
    String name = cohort.getMetadata().getName();
    QueueAnnotations.OfCohort annotated =
        QueueAnnotations.ofCohort(cohort.getMetadata().getAnnotations());
    List<String> faults =
        new ArrayList<>(
            QueueAnnotations.sentences(annotated.faults(), cohort.getMetadata().getAnnotations()));
    if (spec == null) {
      return new MappingResult<>(
          new CohortSpec(name, "", List.of(), BigDecimal.ONE, annotated.rules()), faults);
    }
    MappingResult<List<ResourceGroup>> groups =
        ResourceGroupMapper.translate(spec.resourceGroups());
    String parent = spec.parentName() == null ? "" : spec.parentName();
    MappingResult<BigDecimal> weight = FairWeightParser.translate(spec.fairSharing());
    faults.addAll(groups.faults());
    faults.addAll(weight.faults());
    return new MappingResult<>(
        new CohortSpec(name, parent, groups.value(), weight.value(), annotated.rules()), faults);
  }
}
