package dev.sluice.kube.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.reflect.ListWatch.ReadOptions;
import dev.sluice.workload.ScriptedServer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ListWatchTest {

  private static final Duration SILENCE = Duration.ofMinutes(3);

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  private static final ListWatch.Handler NOBODY =
      new ListWatch.Handler() {
        @Override
        public void listingBegins() {}

        @Override
        public void object(byte[] bytes, int offset, int length, boolean deleted) {}

        @Override
        public void listingEnds(String version) {}
      };

  /** The server was away for longer than a watch may be silent. */
  @Test
  void nextAnswerHasItsWholeTimeAfterAWatchThatFailed() throws IOException {
    try (ScriptedServer server = new ScriptedServer();
        ListWatch listWatch =
            new ListWatch(
                server.client().getHttpClient(),
                server.client().getMasterUrl() + "apis/example.com/v1/things",
                ReadOptions.unlimited(new ObjectMapper(), 100, SILENCE),
                () -> now)) {
      server
          .then(200, "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": []}")
          .then(200, "{\"type\":\"ERROR\",\"object\":{\"code\": 500, \"message\": \"away\"}}\n");
      Duration whole = listWatch.left();
      listWatch.list(NOBODY, Instant.MAX);
      assertThatThrownBy(() -> listWatch.watch(NOBODY, 60, whole)).hasMessageContaining("away");

      now = now.plus(SILENCE).plusSeconds(1);

      assertThat(listWatch.isLate()).isFalse();
      assertThat(listWatch.left()).isEqualTo(whole);
    }
  }
}
