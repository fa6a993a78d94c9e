package dev.sluice.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperatorProcessOptionsTest {

  private static final Instant BUILT = Instant.parse("2026-03-01T12:00:00Z");

  @Test
  void aCacheIsUsedIfItWasMadeAfterTheJar(@TempDir Path directory) throws IOException {
    Path jar = directory.resolve("sluice.jar");
    Path cache = directory.resolve("operator.aot");
    assertThat(OperatorProcess.aotCache(jar, List.of())).isEmpty();
    Files.writeString(jar, "");
    Files.setLastModifiedTime(jar, FileTime.from(BUILT));
    assertThat(OperatorProcess.aotCache(jar, List.of())).isEmpty();
    Files.writeString(cache, "");
    Files.setLastModifiedTime(cache, FileTime.from(BUILT.minusSeconds(1)));
    assertThat(OperatorProcess.aotCache(jar, List.of())).isEmpty();
    Files.setLastModifiedTime(cache, FileTime.from(BUILT.plusSeconds(1)));
    assertThat(OperatorProcess.aotCache(jar, List.of("-Xmx256m")))
        .containsExactly("-XX:AOTCache=" + cache, "-Xlog:aot*=off");
  }

  @Test
  void whoRecordsOrNamesAnotherCacheUsesNone(@TempDir Path directory) throws IOException {
    Path jar = Files.writeString(directory.resolve("sluice.jar"), "");
    Files.writeString(directory.resolve("operator.aot"), "");
    assertThat(OperatorProcess.aotCache(jar, List.of("-XX:AOTMode=record"))).isEmpty();
    assertThat(OperatorProcess.aotCache(directory, List.of())).isEmpty();
  }

  @Test
  void theHeapIsThatOfTheChartsContainer() throws IOException {
    assertThat(OperatorProcess.container(List.of())).contains("-XX:MaxRAM=1g", "-XX:+UseSerialGC");
    assertThat(OperatorProcess.container(List.of("-XX:+UseG1GC")))
        .contains("-XX:MaxRAM=1g")
        .doesNotContain("-XX:+UseSerialGC");
    assertThat(Files.readString(Path.of("helm/sluice/values.yaml"))).contains("memory: 1Gi");
    assertThat(Files.readString(Path.of("Containerfile"))).contains("-XX:MaxRAMPercentage=50");
  }

  @Test
  void theEnvironmentIsThatOfTheImageUnlessItIsGiven() throws IOException {
    Map<String, String> environment = OperatorProcess.environment(Map.of());

    assertThat(environment).isNotEmpty();
    for (String image : List.of("Containerfile", "tools/image/build")) {
      assertThat(Files.readString(Path.of(image)))
          .contains(environment.entrySet().stream().map(Map.Entry::toString).toList());
    }
    assertThat(OperatorProcess.environment(Map.of("MALLOC_ARENA_MAX", "4")))
        .hasSize(environment.size() - 1)
        .doesNotContainKey("MALLOC_ARENA_MAX");
  }
}
