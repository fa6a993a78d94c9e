package dev.sluice.core.model;

import java.util.List;
import java.util.Map;

/** A selector of objects by their labels: every requirement must be met. */
public sealed interface LabelSelector {

  /** Whether an object with these labels is selected. */
  boolean matches(Map<String, String> labels);

  /** Selects nothing: an absent selector. */
  record Nothing() implements LabelSelector {
    @Override
    public boolean matches(Map<String, String> labels) {
      return false;
    }
  }

  /** Selects objects that meet all requirements; without requirements, every object. */
  record Requirements(List<LabelRequirement> requirements) implements LabelSelector {
    public Requirements {
      requirements = List.copyOf(requirements);
    }

    @Override
    public boolean matches(Map<String, String> labels) {
      for (LabelRequirement requirement : requirements) {
        if (!requirement.matches(labels)) {
          return false;
        }
      }
      return true;
    }
  }
}
