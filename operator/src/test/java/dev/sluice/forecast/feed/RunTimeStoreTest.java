package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.at;
import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.ScriptedServer.Asked;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RunTimeStoreTest {

  private static final String COLLECTION = "/api/v1/namespaces/kueue-system/configmaps";
  private static final String OBJECT = COLLECTION + "/sluice-run-times";

  private ScriptedServer server;

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static RunTimeRecorder recorder() {
    RunTimeRecorder recorder =
        new RunTimeRecorder(
            new RunTimeOptions(2, Duration.ofDays(30), 100),
            workload -> "research",
            Runnable::run,
            InstantSource.fixed(at(1_000)),
            end -> {});
    recorder.synced();
    return recorder;
  }

  private static void record(RunTimeRecorder recorder, String name) {
    recorder.changed(
        named(name).admitted(0).build(), named(name).admitted(0).finished("Succeeded", 30).build());
  }

  private RunTimeStore store(RunTimeRecorder recorder) {
    return new RunTimeStore(
        new ApiClient(server.client(), ApiClient.Options.atATime(1)), "kueue-system", recorder);
  }

  /** Time axis, section 2: what was learned survives a restart. */
  @Test
  void littleIsSavedSoonAndMuchSeldom() throws Exception {
    RunTimeRecorder recorder = recorder();
    RunTimeStore store = store(recorder);
    record(recorder, "a");
    server.then(200, "{}");
    store.save();
    assertThat(store.rest()).isEqualTo(Duration.ofSeconds(30));
    store.save();
    assertThat(server.asked()).as("nothing more was recorded").hasSize(1);
    assertThat(RunTimeStore.rest(100 << 10)).isEqualTo(Duration.ofSeconds(100));
    assertThat(RunTimeStore.rest(RunTimeStore.MOST_BYTES)).isEqualTo(Duration.ofMinutes(5));
  }

  @Test
  void whatIsSavedIsReadByTheNextProcess() throws Exception {
    RunTimeRecorder recorder = recorder();
    RunTimeStore store = store(recorder);
    store.save();
    assertThat(server.asked()).as("nothing was recorded").isEmpty();

    record(recorder, "a");
    record(recorder, "b");
    server.then(404, "{}").then(201, "{}");
    store.save();
    store.save();
    assertThat(server.asked())
        .extracting(asked -> asked.method() + " " + asked.uri())
        .containsExactly("PATCH " + OBJECT, "POST " + COLLECTION);
    JsonNode created = new ObjectMapper().readTree(server.asked().getLast().body());
    assertThat(created.at("/metadata/name").asText()).isEqualTo(RunTimeStore.NAME);

    RunTimeRecorder next = recorder();
    server.then(200, created.toString());
    store(next).load();
    assertThat(next.learned(named("c").build()).orElseThrow().count()).isEqualTo(2);
  }

  @Test
  void aFailedWriteIsRepeated() throws Exception {
    RunTimeRecorder recorder = recorder();
    RunTimeStore store = store(recorder);
    record(recorder, "a");
    server.then(403, "{}").then(200, "{}");
    store.save();
    store.save();
    store.save();
    assertThat(server.asked()).extracting(Asked::method).containsExactly("PATCH", "PATCH");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"binaryData\": {}}",
        "{\"binaryData\": {\"run-times\": \"not base64!\"}}",
        "{\"binaryData\": {\"run-times\": \"bm90IGd6aXA=\"}}",
        "{\"binaryData\": {\"run-times\": 7}}",
        "[]",
        "nothing"
      })
  void contentThatCannotBeReadIsIgnored(String body) throws Exception {
    RunTimeRecorder recorder = recorder();
    server.then(200, body);
    store(recorder).load();
    assertThat(recorder.groups()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {403, 404, 500})
  void withoutTheConfigMapOrTheRightNothingIsKnown(int code) throws Exception {
    RunTimeRecorder recorder = recorder();
    server.then(code, "{}");
    store(recorder).load();
    assertThat(recorder.groups()).isZero();
  }
}
