package dev.sluice.install;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Permissions of the operator that no test on a control plane has it use, each with the reason why
 * it has them all the same.
 */
final class UnusedPermissions {

  private static final Map<Pattern, String> REASONS = new LinkedHashMap<>();

  static {
    because(
        ": update .*/finalizers.*",
        "an API server with the admission plugin OwnerReferencesPermissionEnforcement asks for it"
            + " when a Workload or a QueueUnit blocks the deletion of its owner; the plugin is off"
            + " by default");
    because(
        "kueue-.*: delete"
            + " (?!workloads|pods|podgroups|podtemplates|clusterqueues|cohorts|localqueues|resourceflavors|provisioningrequests|capacitybuffers|queue).*",
        "objectRetentionPolicies may have a job deleted whose Workload was deactivated");
    because(
        "kueue-manager-role: delete podtemplates",
        "a PodTemplate that somebody else made under the name of a ProvisioningRequest's is replaced");
    because(
        "kueue-manager-role: get capacitybuffers.autoscaling.x-k8s.io",
        "whatever has the name of a CapacityBuffer that is about to be created is looked at");
    because(
        "kueue-manager-role: patch cohorts/status.kueue.x-k8s.io",
        "the weighted share of a Cohort is written where fair sharing is on");
    because(
        "kueue-kube-queue-role: create queueunits.scheduling.x-k8s.io",
        "a server-side apply of an object that isn't there needs it beside patch; the log names"
            + " patch alone");
    because(
        "kueue-kube-queue-role: patch cohorts.kueue.x-k8s.io",
        "a Cohort that was made from a quota tree is changed when limits of the tree change");
    because(
        "kueue-manager-secrets-role: update secrets kueue-webhook-server-cert",
        "the certificate is renewed after months");
  }

  private static void because(String permissions, String reason) {
    REASONS.put(Pattern.compile((permissions.startsWith(":") ? ".*" : "") + permissions), reason);
  }

  private UnusedPermissions() {}

  /** Those of the granted permissions that are listed. */
  static SortedSet<String> all(PermissionUse use) {
    return use.granted().stream()
        .filter(each -> REASONS.keySet().stream().anyMatch(it -> it.matcher(each).matches()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The entries of the list that no granted permission fits. */
  static Set<String> withoutPermission(PermissionUse use) {
    return REASONS.keySet().stream()
        .filter(it -> use.granted().stream().noneMatch(each -> it.matcher(each).matches()))
        .map(Pattern::pattern)
        .collect(Collectors.toSet());
  }
}
