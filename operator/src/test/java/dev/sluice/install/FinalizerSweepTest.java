package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.install.DefinitionRemoval.FinalizerSweep;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FinalizerSweepTest {

  private static final FinalizerSweep.Collection WORKLOADS =
      new FinalizerSweep.Collection("kueue.x-k8s.io/v1beta2", "workloads", "Workload", "", true);
  private static final FinalizerSweep.Collection PODS =
      new FinalizerSweep.Collection("v1", "pods", "Pod", "kueue.x-k8s.io/managed", false);
  private static final String OURS = "\"kueue.x-k8s.io/resource-in-use\"";

  private final Deque<String> pages = new ArrayDeque<>();
  private final AtomicInteger told = new AtomicInteger();
  private PlayedApi api;
  private KubernetesClient client;
  private FinalizerSweep sweep;

  @BeforeEach
  void play() throws IOException {
    api = new PlayedApi();
    client = api.client();
    sweep =
        new FinalizerSweep(
            new ApiClient(client, ApiClient.Options.atATime(4)), told::incrementAndGet);
  }

  @AfterEach
  void close() {
    client.close();
    api.close();
  }

  /** Lists the pages in their order, and answers writes with this code. */
  private void answer(int code) {
    api.play(
        request ->
            request.method().equals("GET")
                ? new PlayedApi.Answer(200, pages.removeFirst())
                : new PlayedApi.Answer(code, "{\"message\": \"no\"}"));
  }

  private static String page(String next, int remaining, String... items) {
    return "{\"metadata\": {\"continue\": \"%s\", \"remainingItemCount\": %d}, \"items\": [%s]}"
        .formatted(next, remaining, String.join(",", items));
  }

  private static String item(String name, String finalizers, String more) {
    return "{\"metadata\": {\"namespace\": \"n\", \"name\": \"%s\", \"uid\": \"u\", \"finalizers\": [%s]%s}}"
        .formatted(name, finalizers, more);
  }

  @Test
  void theFinalizersOfThisApiAloneAreTakenOffAndOnlyTheOnesThatWereRead() throws IOException {
    JsonNode object =
        JsonMappers.JSON.readTree(
            item("a", "\"example.com/x\", " + OURS + ", \"kueue.x-k8s.io.example.com/y\"", ""));

    assertThat(FinalizerSweep.operations(object))
        .contains(
            JsonMappers.JSON
                .createArrayNode()
                .addAll(
                    List.of(
                        JsonMappers.JSON.readTree(
                            """
                            {"op": "test", "path": "/metadata/finalizers", "value": [
                              "example.com/x", "kueue.x-k8s.io/resource-in-use",
                              "kueue.x-k8s.io.example.com/y"]}
                            """),
                        JsonMappers.JSON.readTree(
                            """
                            {"op": "replace", "path": "/metadata/finalizers", "value": [
                              "example.com/x", "kueue.x-k8s.io.example.com/y"]}
                            """))));
    assertThat(
            FinalizerSweep.operations(
                JsonMappers.JSON.readTree(item("b", "\"example.com/x\"", ""))))
        .isEmpty();
  }

  @Test
  void everyPageIsFreedAndDeletedAndOthersAreNamed() {
    pages.add(page("more", 2, item("a", OURS, ""), item("b", "", "")));
    pages.add(
        page(
            "",
            0,
            item("c", OURS, ", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\""),
            item("d", OURS + ", \"example.com/x\"", "")));
    answer(200);

    sweep.run(WORKLOADS);

    assertThat(api.asked("PATCH", "/a")).hasSize(1);
    assertThat(api.asked("DELETE", "/a")).hasSize(1);
    assertThat(api.asked("PATCH", "/b")).isEmpty();
    assertThat(api.asked("DELETE", "/b")).hasSize(1);
    assertThat(api.asked("PATCH", "/apis/kueue.x-k8s.io/v1beta2/namespaces/n/workloads/c"))
        .hasSize(1);
    assertThat(api.asked("DELETE", "/c")).as("it is being deleted").isEmpty();
    assertThat(sweep.removed()).isEqualTo(3);
    assertThat(sweep.left()).isEqualTo(1);
    assertThat(sweep.reasons())
        .containsExactly(
            "Workload n/d: held by example.com/x, a finalizer of another owner, who has to remove"
                + " it");
    assertThat(told).hasValue(2);
  }

  @Test
  void aPageThatIsRefusedEndsTheSweep() {
    pages.add(page("more", 7, item("a", OURS, "")));
    answer(403);

    sweep.run(WORKLOADS);

    assertThat(sweep.left()).isEqualTo(8);
    assertThat(sweep.removed()).isZero();
    assertThat(api.asked("DELETE", "/a")).isEmpty();
    assertThat(sweep.reasons())
        .containsExactly("Workload n/a: the API server refuses its removal: no");
  }

  @Test
  void podsLoseTheFinalizerAndStay() {
    pages.add(
        page(
            "",
            0,
            item("a", "\"kueue.x-k8s.io/managed\", \"batch.kubernetes.io/job-tracking\"", "")));
    answer(200);

    sweep.run(PODS);

    assertThat(api.asked("PATCH", "/api/v1/namespaces/n/pods/a")).hasSize(1);
    assertThat(api.asked("DELETE", "/a")).isEmpty();
    assertThat(sweep.left()).isZero();
    assertThat(sweep.reasons()).as("the other finalizer is not in the way").isEmpty();
  }

  @Test
  void whatCannotBeListedIsNotTakenForEmpty() {
    api.play(request -> new PlayedApi.Answer(500, "{\"message\": \"conversion failed\"}"));

    sweep.run(WORKLOADS);

    assertThat(sweep.left()).isEqualTo(FinalizerSweep.UNKNOWN);
    assertThat(sweep.reasons())
        .containsExactly(
            "workloads: can't be listed: the API server answered 500: conversion failed");
    api.play(request -> new PlayedApi.Answer(404, "{}"));

    sweep.run(WORKLOADS);

    assertThat(sweep.left()).as("there is no such kind any more").isZero();
  }
}
