package dev.sluice.forecast.simulate;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.EngineState.ClusterQueueExport;
import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds the cohort that an admission borrows from. */
final class Lender {

  private final Map<String, String> parents = new HashMap<>();
  private final Map<String, Integer> heights = new HashMap<>();

  private Lender(EngineState state) {
    for (CohortSpec cohort : state.specs().cohorts()) {
      parents.put(cohort.name(), cohort.parent());
    }
    state.clusterQueues().forEach(queue -> raise(chain(queue)));
    parents.keySet().forEach(cohort -> raise(chain(cohort)));
  }

  /**
   * The lowest cohort above the ClusterQueue that has what is borrowed; empty if nothing is
   * borrowed.
   */
  static Optional<String> of(EngineState state, Decision.Admit admit) {
    int level =
        admit.considered().stream()
            .filter(attempt -> attempt.mode() == AssignmentMode.FIT)
            .filter(
                attempt ->
                    admit.podSets().stream()
                        .anyMatch(
                            podSet ->
                                podSet.name().equals(attempt.podSet())
                                    && podSet.flavors().containsValue(attempt.flavor())))
            .mapToInt(attempt -> attempt.borrowLevel())
            .max()
            .orElse(0);
    if (level == 0) {
      return Optional.empty();
    }
    Lender lender = new Lender(state);
    return state.clusterQueues().stream()
        .filter(queue -> queue.name().equals(admit.clusterQueue()))
        .flatMap(queue -> lender.chain(queue).stream())
        .filter(cohort -> lender.heights.getOrDefault(cohort, 0) >= level)
        .findFirst();
  }

  private List<String> chain(ClusterQueueExport queue) {
    return chain(queue.spec().map(spec -> spec.cohort()).orElse(""));
  }

  /** A cohort and those above it; each is there once, even if the parents form a circle. */
  private List<String> chain(String lowest) {
    List<String> chain = new ArrayList<>();
    for (String name = lowest;
        !name.isEmpty() && !chain.contains(name);
        name = parents.getOrDefault(name, "")) {
      chain.add(name);
    }
    return chain;
  }

  /** Each cohort is one level above what is below it. */
  private void raise(List<String> chain) {
    for (int i = 0; i < chain.size(); i++) {
      heights.merge(chain.get(i), i + 1, Math::max);
    }
  }
}
