package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildInfoTest {

  @TempDir private Path directory;

  @Test
  void theJarTellsVersionCommitAndDate() throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, "1.2.3");
    attributes.putValue("Build-Commit", "abc");
    attributes.putValue("Build-Date", "2030-01-01T00:00:00Z");
    Path jar = directory.resolve("sluice.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.putNextEntry(new ZipEntry("a.class"));
      out.closeEntry();
    }

    assertThat(BuildInfo.of(URI.create("jar:" + jar.toUri() + "!/a.class").toURL()))
        .extracting(BuildInfo::version, BuildInfo::commit, BuildInfo::date)
        .containsExactly("1.2.3", "abc", "2030-01-01T00:00:00Z");
  }

  @Test
  void whatIsInNoJarIsUnknown() throws IOException {
    assertThat(BuildInfo.of(directory.toUri().toURL()))
        .extracting(BuildInfo::version, BuildInfo::commit, BuildInfo::date)
        .containsOnly("unknown");
  }

  /** What the manifest is made of, by the names that are read. */
  @Test
  void theBuildWritesThem() throws IOException {
    assertThat(Files.readString(Path.of("operator/pom.xml")))
        .contains(
            "<Build-Commit>${build.commit}</Build-Commit>",
            "<Build-Date>${build.date}</Build-Date>");
    assertThat(Files.readString(Path.of("Containerfile")))
        .contains("-Dbuild.commit=$REVISION -Dbuild.date=$CREATED");
  }
}
