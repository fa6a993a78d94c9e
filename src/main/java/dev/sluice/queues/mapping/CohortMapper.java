package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.ResourceGroup;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Maps Cohorts to the scheduler's model. */
public final class CohortMapper {

  private CohortMapper() {}

  /** Maps a Cohort. */
  public static MappingResult<CohortSpec> translate(Cohort cohort) {
    dev.sluice.api.v1beta2.CohortSpec spec = cohort.getSpec();
    String name = cohort.getMetadata().getName();
    if (spec == null) {
      return new MappingResult<>(new CohortSpec(name, "", List.of()), List.of());
    }
    MappingResult<List<ResourceGroup>> groups =
        ResourceGroupMapper.translate(spec.resourceGroups());
    String parent = spec.parentName() == null ? "" : spec.parentName();
    MappingResult<BigDecimal> weight = FairWeightParser.translate(spec.fairSharing());
    List<String> faults = new ArrayList<>(groups.faults());
    faults.addAll(weight.faults());
    return new MappingResult<>(
        new CohortSpec(name, parent, groups.value(), weight.value()), faults);
  }
}
