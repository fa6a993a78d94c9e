package dev.sluice.workload.reading;

import static dev.sluice.workload.Json.bookmark;
import static dev.sluice.workload.Json.event;
import static dev.sluice.workload.Json.gone;
import static dev.sluice.workload.Json.list;
import static dev.sluice.workload.Json.workload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.ScriptedServer.Watch;
import dev.sluice.workload.reading.WorkloadReflector.ReflectorOptions;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever the server and the connection do, every change is seen once and in order. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkloadReflectorTest {

  private static final ReflectorOptions QUICK =
      new ReflectorOptions(
          2, 400, 4, Duration.ofSeconds(20), 0, Duration.ofMillis(5), Duration.ofMillis(20));

  private final List<String> told = new CopyOnWriteArrayList<>();
  private final WorkloadCache index = new WorkloadCache();
  private final WorkloadParser parser = new WorkloadParser();
  private ScriptedServer server;
  private WorkloadReflector reader;

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
    reader = reader(QUICK);
  }

  private WorkloadReflector reader(ReflectorOptions settings) {
    WorkloadReflector result =
        new WorkloadReflector(
            server.client(),
            parser,
            index,
            settings,
            InstantSource.system(),
            new Random(1),
            new ReadErrorLog());
    return result;
  }

  private void listen() {
    reader.listen(
        new WorkloadListener() {
          @Override
          public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
            told.add(text(before) + ">" + text(after));
          }

          @Override
          public void synced() {
            told.add("synced");
          }
        });
  }

  private static String text(@Nullable CachedWorkload workload) {
    return workload == null ? "" : workload.id().name() + workload.version();
  }

  @AfterEach
  void stop() {
    reader.close();
    server.close();
  }

  @Test
  void listsPageByPageAndFollowsTheWatchFromThere() {
    listen();
    Watch watch = new Watch();
    server
        .then(200, list(10, "more", workload("a", 3), workload("b", 4)))
        .then(200, list(10, "", workload("c", 5)))
        .then(watch);

    reader.start().join();
    watch.send(event("MODIFIED", workload("b", 12)));
    watch.send(event("DELETED", workload("a", 13)));
    watch.send(event("ADDED", workload("d", 14)));

    await()
        .untilAsserted(
            () ->
                assertThat(told)
                    .containsExactly(">a3", ">b4", ">c5", "synced", "b4>b12", "a3>", ">d14"));
    assertThat(server.asked())
        .extracting(ScriptedServer.Asked::uri)
        .satisfies(
            uris -> {
              assertThat(uris.get(0)).endsWith("/apis/kueue.x-k8s.io/v1beta2/workloads?limit=2");
              assertThat(uris.get(1)).endsWith("limit=2&continue=more");
              assertThat(uris.get(2))
                  .contains("watch=true", "allowWatchBookmarks=true", "resourceVersion=10&");
            });
    assertThat(index.size()).isEqualTo(3);
  }

  @Test
  void whatIsListedBeforeTheStartIsKeptAsideUntilThen() {
    listen();
    Watch watch = new Watch();
    server
        .then(200, list(10, "more", workload("a", 3)))
        .then(500, "{}")
        .then(200, list(11, "more", workload("b", 4)))
        .then(200, list(11, "", workload("c", 5)))
        .then(watch);

    reader.begin();
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(4));

    assertThat(told).isEmpty();
    assertThat(index.size()).isZero();

    reader.start().join();
    watch.send(event("MODIFIED", workload("b", 12)));

    await().untilAsserted(() -> assertThat(told).containsExactly(">b4", ">c5", "synced", "b4>b12"));
  }

  @Test
  void aReaderThatIsClosedBeforeItsStartChangesNothing() {
    listen();
    server.then(200, list(10, "", workload("a", 3)));
    reader.begin();
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(1));

    reader.close();

    assertThat(reader.start()).isCancelled();
    assertThat(told).doesNotContain("synced");
  }

  @Test
  void anEventInPiecesIsOneEventAndARepeatedOneIsNone() {
    listen();
    Watch watch = new Watch();
    server.then(200, list(10, "")).then(watch);
    reader.start().join();

    String line = event("ADDED", workload("a", 11));
    watch.send(line.substring(0, 50)).send(line.substring(50, 200)).send(line.substring(200));
    watch.send(line).send(event("MODIFIED", workload("a", 11)));
    watch.send(event("MODIFIED", workload("a", 12)));

    await().untilAsserted(() -> assertThat(told).containsExactly("synced", ">a11", "a11>a12"));
  }

  @Test
  void resumesWhereABrokenWatchEnded() {
    listen();
    Watch first = new Watch();
    Watch second = new Watch();
    server.then(200, list(10, "", workload("a", 3))).then(first).then(second);
    reader.start().join();

    first.send(event("MODIFIED", workload("a", 12))).send(bookmark(20));
    first.send("{\"type\":\"MODIFIED\",\"obj").end();
    second.send(event("DELETED", workload("a", 21)));

    await()
        .untilAsserted(() -> assertThat(told).containsExactly(">a3", "synced", "a3>a12", "a12>"));
    assertThat(server.asked().get(2).uri()).contains("resourceVersion=20&");
  }

  @Test
  void listsAnewWhenTheServerNoLongerKnowsAndTellsOnlyWhatChanged() {
    listen();
    Watch first = new Watch().send(gone()).end();
    Watch second = new Watch();
    server
        .then(200, list(10, "", workload("a", 3), workload("b", 4), workload("c", 5)))
        .then(first)
        .then(200, list(30, "", workload("a", 3), workload("b", 25), workload("d", 26)))
        .then(second);
    reader.start().join();

    await()
        .untilAsserted(
            () ->
                assertThat(told)
                    .containsExactly(">a3", ">b4", ">c5", "synced", "b4>b25", ">d26", "c5>"));
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(4));
    assertThat(server.asked().get(3).uri()).contains("resourceVersion=30&");
  }

  @Test
  void listsAnewWhenTheWatchIsRefusedAsTooOld() {
    listen();
    server
        .then(200, list(10, "", workload("a", 3)))
        .then(410, "{\"kind\":\"Status\",\"code\":410}")
        .then(200, list(30, "", workload("a", 22)))
        .then(new Watch());

    reader.start().join();

    await().untilAsserted(() -> assertThat(told).containsExactly(">a3", "synced", "a3>a22"));
  }

  @Test
  void listsAgainWithPausesWhenTheServerForgetsAllVersionsAtOnce() {
    Duration pause = Duration.ofMillis(400);
    reader.close();
    reader = reader(new ReflectorOptions(2, 400, 4, Duration.ofSeconds(20), 0, pause, pause));
    for (int i = 0; i < 5; i++) {
      server.then(200, list(10, "")).then(410, "{\"kind\":\"Status\",\"code\":410}");
    }
    server.then(200, list(30, "")).then(new Watch());
    long begun = System.nanoTime();

    reader.start().join();
    await().until(() -> server.asked().size() == 12);

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(1));
  }

  @Test
  void aSecondObjectOfTheSameNameIsTheEndOfTheFirst() {
    listen();
    Watch watch = new Watch();
    server.then(200, list(10, "", workload("a", 3))).then(watch);
    reader.start().join();

    watch.send(event("ADDED", workload("a", "other", 12, "{}")));

    await().untilAsserted(() -> assertThat(told).containsExactly(">a3", "synced", "a3>", ">a12"));
  }

  @Test
  void keepsTryingWhileTheServerFails() {
    listen();
    server
        .then(500, "{}")
        .thenBreak()
        .then(200, "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[{\"meta")
        .then(200, list(10, "", workload("a", 3)))
        .then(503, "{}")
        .then(new Watch().send(event("DELETED", workload("a", 12))));

    reader.start().join();

    await().untilAsserted(() -> assertThat(told).containsExactly(">a3", "synced", "a3>"));
    // the broken connection itself is made up for at once
    assertThat(reader.counters().failures()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void replacesAWatchThatSaysNothing() {
    reader =
        reader(
            new ReflectorOptions(
                2, 400, 4, Duration.ofMillis(300), 0, Duration.ofMillis(5), Duration.ofMillis(9)));
    listen();
    server
        .then(200, list(10, ""))
        .then(new Watch())
        .then(new Watch().send(event("ADDED", workload("a", 11))));

    reader.start().join();

    await().untilAsserted(() -> assertThat(told).containsExactly("synced", ">a11"));
  }

  @Test
  void anUnreadableObjectConcernsNoOther() {
    listen();
    server
        .then(200, list(10, "", workload("a", 3).replace("\"i\"", "\"\\q\""), workload("b", 4)))
        .then(new Watch());

    reader.start().join();

    assertThat(told).containsExactly(">b4", "synced");
    assertThat(reader.counters().unreadable()).isEqualTo(1);
  }

  /** Its job may run: what it was given is charged until it is certain that it is gone. */
  @Test
  void whatCannotBeReadAnyMoreStaysAsItWasUntilItIsGone() {
    listen();
    String unreadable = workload("a", 12).replace("\"i\"", "\"\\q\"");
    server
        .then(200, list(10, "", workload("a", 3), workload("b", 4)))
        .then(new Watch().send(gone()))
        .then(200, list(20, "", unreadable))
        .then(new Watch().send(gone()))
        .then(200, list(21, "", unreadable.replace("uid-a", "uid-of-another")))
        .then(new Watch());

    reader.start().join();

    await().untilAsserted(() -> assertThat(index.position()).isEqualTo(21));
    assertThat(told).containsExactly(">a3", ">b4", "synced", "b4>", "a3>");
  }

  @Test
  void hasCaughtUpWhenTheWatchReachedTheNewestVersion() {
    Watch first = new Watch();
    Watch hurried = new Watch();
    server.then(200, list(10, "", workload("a", 3))).then(first);
    reader.start().join();
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(2));

    server.then(200, list(17, "", workload("a", 3))).then(hurried).then(new Watch());
    CompletableFuture<Void> caughtUp = reader.caughtUp();

    await().untilAsserted(() -> assertThat(server.asked()).hasSize(4));
    assertThat(server.asked().get(3).uri()).contains("resourceVersion=10&timeoutSeconds=4");
    hurried.send(bookmark(16));
    await().untilAsserted(() -> assertThat(index.position()).isEqualTo(16));
    assertThat(caughtUp).isNotDone();
    hurried.send(bookmark(17));
    await().untilAsserted(() -> assertThat(caughtUp).isCompleted());
  }

  @Test
  void catchesUpByListingWhenNoBookmarkComes() {
    Watch first = new Watch();
    server.then(200, list(10, "", workload("a", 3))).then(first);
    reader.start().join();
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(2));

    server
        .then(200, list(17, "", workload("a", 3)))
        .then(new Watch().end())
        .then(200, list(19, "", workload("a", 18)))
        .then(new Watch());
    CompletableFuture<Void> caughtUp = reader.caughtUp();

    await().untilAsserted(() -> assertThat(caughtUp).isCompleted());
    assertThat(index.get("team", "a").orElseThrow().version()).isEqualTo(18);
  }

  @Test
  void hasCaughtUpAtOnceWhenNothingHappened() {
    server.then(200, list(10, "")).then(new Watch());
    reader.start().join();

    await().untilAsserted(() -> assertThat(server.asked()).hasSize(2));
    server.then(200, list(10, ""));
    assertThat(reader.caughtUp()).succeedsWithin(Duration.ofSeconds(5));
  }

  @Test
  void anAnswerToAWriteIsKnownBeforeTheWatchTellsButNeverAfter() throws IOException {
    listen();
    Watch watch = new Watch();
    server.then(200, list(10, "", workload("a", 3), workload("b", 4))).then(watch);
    reader.start().join();

    index.answered(parser.parse(workload("a", 12).getBytes(StandardCharsets.UTF_8)));
    assertThat(told).containsExactly(">a3", ">b4", "synced", "a3>a12");

    watch.send(event("MODIFIED", workload("a", 12)));
    watch.send(event("DELETED", workload("b", 15)));
    await().untilAsserted(() -> assertThat(told).last().isEqualTo("b4>"));
    index.answered(parser.parse(workload("b", 14).getBytes(StandardCharsets.UTF_8)));
    assertThat(told).containsExactly(">a3", ">b4", "synced", "a3>a12", "b4>");
  }

  @Test
  void oneWorkloadCanBeLookedUpAheadOfTheWatch() {
    server.then(200, list(10, "", workload("a", 3), workload("b", 4))).then(new Watch());
    reader.start().join();
    await().untilAsserted(() -> assertThat(server.asked()).hasSize(2));

    server.then(200, workload("a", 12)).then(404, "{}").then(500, "{}");
    reader.refresh("team", "a").join();
    reader.refresh("team", "b").join();

    assertThat(index.get("team", "a")).get().extracting(CachedWorkload::version).isEqualTo(12L);
    assertThat(index.get("team", "b")).as("the watch will tell").isPresent();
    assertThat(reader.refresh("team", "a")).failsWithin(Duration.ofSeconds(5));
  }

  @Test
  void findsWorkloadsByOwnerAndQueue() throws IOException {
    server.then(200, list(10, "", workload("a", 3), workload("b", 4))).then(new Watch());
    reader.start().join();
    String reserving =
        """
        {"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-01-02T03:04:06Z"}],
         "admission":{"clusterQueue":"cq","podSetAssignments":[]}}\
        """;

    index.answered(
        parser.parse(workload("b", "uid-b", 12, reserving).getBytes(StandardCharsets.UTF_8)));

    assertThat(index.ownedBy("job-a")).extracting(w -> w.id().name()).containsExactly("a");
    assertThat(index.inQueue("team", "lq"))
        .extracting(w -> w.id().name())
        .containsExactlyInAnyOrder("a", "b");
    assertThat(index.reservingIn("cq")).extracting(w -> w.id().name()).containsExactly("b");
    assertThat(index.all()).hasSize(2);
  }
}
