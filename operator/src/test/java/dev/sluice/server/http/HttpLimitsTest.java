package dev.sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.server.http.HttpService.HttpLimits;
import dev.sluice.server.http.HttpService.PlatformLimits;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpLimitsTest {

  private static final long MIB = 1024 * 1024;

  @ParameterizedTest
  @ValueSource(longs = {128, 256, 716, 4096, 65536})
  void whatClientsCanUseTogetherLeavesAQuarterOfTheHeap(long mib) {
    long heap = mib * MIB;
    HttpLimits limits = HttpLimits.forHeap(heap);
    long connections = PlatformLimits.connections(heap);

    assertThat(limits.bodies() + limits.work() + connections * 128 * 1024)
        .isLessThanOrEqualTo(heap / 4 * 3);
    assertThat(connections).isBetween(256L, 2048L);
    assertThat(PlatformLimits.of(heap))
        .containsEntry("jdk.httpserver.maxConnections", String.valueOf(2 * connections));
  }
}
