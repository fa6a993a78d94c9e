package dev.sluice.install;

import dev.sluice.jobs.JobKindDescription;
import dev.sluice.jobs.RbacRule;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The rules of the operator's ClusterRole for the kinds of jobs, as each integration states them.
 */
final class JobKindRules {

  private JobKindRules() {}

  /** The items of a list of rules in YAML, with a comment for each kind. */
  static String text(List<JobKindDescription> kinds) {
    return kinds.stream()
        .filter(kind -> !kind.roles().isEmpty())
        .map(JobKindRules::text)
        .collect(Collectors.joining());
  }

  private static String text(JobKindDescription kind) {
    return "# %s of %s\n".formatted(kind.kind().kind(), kind.kind().apiVersion())
        + kind.roles().stream().map(JobKindRules::text).collect(Collectors.joining());
  }

  private static String text(RbacRule rule) {
    return """
        - apiGroups: [%s]
          resources: [%s]
          verbs: [%s]
        """
        .formatted(
            rule.group().isEmpty() ? "\"\"" : rule.group(),
            rule.resource(),
            String.join(", ", rule.verbs()));
  }
}
