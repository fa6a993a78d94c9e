package dev.sluice.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * When the script "sluice" builds: after a change of what it builds from, and not after a git
 * checkout, which gives directories and files new times. Maven and Java are played.
 */
class CheckoutLauncherTest {

  private static final int CALLS = 10;

  @TempDir private Path checkout = Path.of("");

  private Path source = Path.of("");

  @BeforeEach
  void play() throws IOException {
    source = checkout.resolve("operator/src/main/java/A.java");
    for (String module : List.of("scheduler", "operator", "lab")) {
      Files.createDirectories(checkout.resolve(module + "/src/main/java"));
      Files.writeString(checkout.resolve(module + "/pom.xml"), "<project/>");
    }
    for (String directory :
        List.of(
            "operator/src/main/resources/dev/sluice/app", "crds", "tools/control-plane", "bin")) {
      Files.createDirectories(checkout.resolve(directory));
    }
    Files.copy(Path.of("sluice"), checkout.resolve("sluice"));
    Files.writeString(source, "class A {}");
    Files.writeString(checkout.resolve("operator/src/main/java/B.java"), "class B {}");
    Files.writeString(checkout.resolve("pom.xml"), "<project/>");
    Files.writeString(
        checkout.resolve("operator/src/main/resources/dev/sluice/app/jvm.options"), "");
    program("bin/mvn", "mkdir -p target/lib; touch target/sluice.jar target/sluice-lab.jar");
    program("bin/java", "echo ran");
    program("bin/javac", "true");
    Files.writeString(checkout.resolve("release"), "JAVA_VERSION=\"25\"\n");
  }

  private void program(String path, String script) throws IOException {
    Path file = checkout.resolve(path);
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  /** Whether it was built before the program ran. */
  private boolean builds() throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(checkout.resolve("sluice").toString(), "--version")
            .redirectErrorStream(true);
    builder.environment().put("SLUICE_JAVA_HOME", checkout.toString());
    builder.environment().merge("PATH", "", (path, none) -> checkout.resolve("bin") + ":" + path);
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).endsWith("ran\n");
    return said.contains("building");
  }

  private static void touch(Path path) throws IOException {
    Files.setLastModifiedTime(path, FileTime.from(Instant.now()));
  }

  @Test
  void aCheckoutThatChangesNothingIsNotBuiltAnew() throws Exception {
    assertThat(builds()).as("the first call").isTrue();
    assertThat(builds()).as("nothing has changed").isFalse();
    for (int i = 0; i < CALLS; i++) {
      touch(Objects.requireNonNull(source.getParent()));
      touch(source);
      assertThat(builds()).as("times alone").isFalse();
    }
  }

  @Test
  void aChangeIsBuilt() throws Exception {
    builds();
    Files.writeString(source, "class A { int a; }");
    assertThat(builds()).as("another content").isTrue();
    assertThat(builds()).isFalse();

    Files.writeString(checkout.resolve("operator/src/main/java/C.java"), "class C {}");
    assertThat(builds()).as("a new file").isTrue();

    Files.delete(source);
    assertThat(builds()).as("a file less").isTrue();
    assertThat(builds()).isFalse();

    Files.move(
        checkout.resolve("operator/src/main/java/B.java"),
        checkout.resolve("operator/src/main/java/D.java"));
    assertThat(builds()).as("another name").isTrue();
  }

  /** Maven was called by hand on other sources, then the former ones come back. */
  @Test
  void aJarOfOtherSourcesIsNotTaken() throws Exception {
    builds();
    touch(checkout.resolve("target/sluice.jar"));
    assertThat(builds()).as("of the newest sources").isFalse();
    touch(source);
    assertThat(builds()).as("of sources that are not known").isTrue();
  }
}
