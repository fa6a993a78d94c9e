package dev.sluice.controllers.translation;

import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.model.CohortSpec;
import dev.sluice.model.ResourceGroup;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Cohorts as the engine knows them. */
public final class Cohorts {

  private Cohorts() {}

  /** The Cohort as the engine knows it. */
  public static Translated<CohortSpec> translate(Cohort cohort) {
    dev.sluice.api.v1beta2.CohortSpec spec = cohort.getSpec();
    String name = cohort.getMetadata().getName();
    if (spec == null) {
      return new Translated<>(new CohortSpec(name, "", List.of()), List.of());
    }
    Translated<List<ResourceGroup>> groups = Groups.translate(spec.resourceGroups());
    String parent = spec.parentName() == null ? "" : spec.parentName();
    Translated<BigDecimal> weight = Weights.translate(spec.fairSharing());
    List<String> faults = new ArrayList<>(groups.faults());
    faults.addAll(weight.faults());
    return new Translated<>(new CohortSpec(name, parent, groups.value(), weight.value()), faults);
  }
}
