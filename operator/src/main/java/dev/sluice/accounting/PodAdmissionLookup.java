package dev.sluice.accounting;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.accounting.AdmissionComparison.Finding;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares a pod that is to be changed with what its Workload was admitted with. Which Workload
 * that is, is told by what is known of the pod, not by what it says of itself. Usable from any
 * thread.
 *
 * @param accounts knows the Workloads of pods
 * @param parser makes records of pods
 * @param requests counts requests as quota does
 * @param prevention lets pods in; empty if they are let in unseen
 */
public record PodAdmissionLookup(
    PodAccounts accounts,
    PodRecordParser parser,
    AdmittedRequests requests,
    Optional<PodPrevention> prevention) {

  /**
   * Why a pod may not run as it is to be; see {@link PodPrevention#excessWith}.
   *
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  public Optional<String> excessWith(JsonNode before, JsonNode pod, boolean dryRun)
      throws InterruptedException {
    return prevention.isPresent()
        ? prevention.get().excessWith(before, pod, dryRun)
        : Optional.empty();
  }

  /**
   * What a pod would request beyond what it was admitted with: beyond the amounts of one pod of its
   * pod set, or together with the other pods beyond what all of them may request. Empty if it is
   * within them, if it doesn't request more than before, or if nothing is charged for it.
   *
   * @param before the pod as it is
   * @param pod the pod as it is to be
   */
  public Optional<String> excess(String namespace, JsonNode before, JsonNode pod) {
    if (!requests.isLarger(pod, before)) {
      return Optional.empty();
    }
    PodRecord known = accounts.records().known(parser.of(before));
    for (Account account : accounts.accountsOf(known)) {
      if (account.namespace().equals(namespace)) {
        Optional<String> excess = excess(account, known, pod);
        if (excess.isPresent()) {
          return excess;
        }
      }
    }
    return Optional.empty();
  }

  private Optional<String> excess(Account account, PodRecord known, JsonNode pod) {
    List<CachedWorkload> reserving = accounts.reserving(account);
    for (CachedWorkload workload : reserving) {
      Optional<String> excess = excess(workload, pod);
      if (excess.isPresent()) {
        return excess;
      }
    }
    return accounts.charge(account).pods() == 0
        ? Optional.empty()
        : together(account, known, parser.of(pod));
  }

  /** What the pods of an account request too much with one of them changed. */
  private Optional<String> together(Account account, PodRecord known, PodRecord changed) {
    List<PodRecord> pods = new ArrayList<>(accounts.podsOf(account));
    if (!pods.removeIf(pod -> pod.uid().equals(known.uid()))) {
      return Optional.empty();
    }
    pods.add(changed);
    Finding finding = accounts.find(account, pods, Instant.EPOCH);
    return finding.exceeds() ? Optional.of(finding.excess()) : Optional.empty();
  }

  /** What a pod requests beyond one pod of its pod set. */
  private Optional<String> excess(CachedWorkload workload, JsonNode pod) {
    List<PodSet> podSets = workload.spec().podSets();
    String name = podSets.size() == 1 ? podSets.getFirst().name() : podSet(pod);
    for (PodSet podSet : podSets) {
      for (Assignment assignment : workload.assignments()) {
        if (podSet.name().equals(name) && assignment.name().equals(name)) {
          return requests.excess(pod, podSet, assignment);
        }
      }
    }
    return Optional.empty();
  }

  private static String podSet(JsonNode pod) {
    String role = JsonFields.annotations(pod).getOrDefault(KueueConstants.ROLE_HASH, "");
    return JsonFields.labels(pod).getOrDefault(KueueConstants.PODSET, role);
  }
}
