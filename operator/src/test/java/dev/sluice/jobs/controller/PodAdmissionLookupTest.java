package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.accounting.AdmissionComparison;
import dev.sluice.accounting.PodAccounts;
import dev.sluice.accounting.PodAdmissionLookup;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What pods request beyond what they were admitted with. */
class PodAdmissionLookupTest {

  private static final YAMLMapper YAML = new YAMLMapper();

  private final ScriptedApi api = new ScriptedApi();
  private final PodAccounts accounts =
      new PodAccounts(
          api, new AdmissionComparison(AdmittedRequests.PLAIN, any -> false, false), account -> {});
  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, image -> false);
  private final PodAdmissionLookup lookup =
      new PodAdmissionLookup(accounts, parser, AdmittedRequests.PLAIN, Optional.empty());
  private CachedWorkload admitted;

  @BeforeEach
  void givenAnAdmittedJob() {
    admitted = workloadOf(job()).admitted("spot").get();
    api.cached.add(admitted);
  }

  private static JsonNode pod(String owner, String group, String cpu) {
    try {
      return YAML.readTree(
          """
          metadata:
            uid: pod
            annotations: {kueue.x-k8s.io/pod-group-name: "%s"}
            ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: "%s", controller: true}]
          spec: {containers: [{name: c, resources: {requests: {cpu: "%s"}}}]}
          """
              .formatted(group, owner, cpu));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Test
  void aPodOfAJobIsComparedWithTheWorkloadOfTheJob() {
    String uid = job().view().ref().uid();

    assertThat(lookup.excess("team", pod(uid, "", "1"), pod(uid, "", "1000"))).isPresent();
    assertThat(lookup.excess("team", pod(uid, "", "1"), pod(uid, "", "1m"))).isEmpty();
    assertThat(lookup.excess("other", pod(uid, "", "1"), pod(uid, "", "1000"))).isEmpty();
    assertThat(lookup.excess("team", pod("another", "", "1"), pod("another", "", "1000")))
        .isEmpty();
  }

  @Test
  void aPodThatShrinksIsNeverTooLarge() {
    String uid = job().view().ref().uid();
    assertThat(lookup.excess("team", pod(uid, "", "2000"), pod(uid, "", "1000"))).isEmpty();
  }

  @Test
  void anAnnotationMakesNoPodAPodOfAnotherWorkload() {
    String group = admitted.id().name();
    assertThat(lookup.excess("team", pod("", group, "1"), pod("", group, "1000"))).isEmpty();
    String uid = job().view().ref().uid();
    assertThat(lookup.excess("team", pod(uid, "g", "1"), pod(uid, "g", "1000"))).isPresent();
  }

  @Test
  void aPodIsKnownByTheControllerThatItOnceNamed() {
    String uid = job().view().ref().uid();
    accounts.records().seen(parser.of(pod(uid, "", "1")));
    assertThat(lookup.excess("team", pod("", "", "1"), pod("", "", "1000"))).isPresent();
  }

  @Test
  void aPodDoesNotGrowBeyondWhatADeletedWorkloadHolds() {
    String uid = job().view().ref().uid();
    ObjectNode small = pod(uid, "", "1m").deepCopy();
    ((ObjectNode) small.path("metadata")).put("namespace", "team");
    accounts.records().seen(parser.of(small));
    api.cached.clear();
    accounts.changed(admitted, null);
    assertThat(accounts.isHeld(admitted.id())).isTrue();

    assertThat(lookup.excess("team", small, pod(uid, "", "1000"))).isPresent();
  }

  @Test
  void withoutQuotaNothingIsTooMuch() {
    api.cached.clear();
    api.cached.add(workloadOf(job()).get());
    String uid = job().view().ref().uid();
    assertThat(lookup.excess("team", pod(uid, "", "1"), pod(uid, "", "1000"))).isEmpty();
  }
}
