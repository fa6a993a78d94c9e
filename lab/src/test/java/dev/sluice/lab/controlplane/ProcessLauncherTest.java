package dev.sluice.lab.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.ManagedProcess.ProcessFiles;
import dev.sluice.lab.controlplane.StateFile.ProcessRecord;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs end when they are told to, and when their starter dies. */
class ProcessLauncherTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir private Path directory = Path.of("");

  @Test
  void aKilledProgramHasEnded() {
    ManagedProcess process = start(Lifetime.WITH_THIS_PROCESS, "exec sleep 1000");

    assertThat(process.isAlive()).isTrue();
    process.kill();

    assertThat(process.awaitEnd(LIMIT)).isTrue();
    assertThat(process.isAlive()).isFalse();
  }

  @Test
  void aPausedProgramIsKilledToo() {
    ManagedProcess process = start(Lifetime.WITH_THIS_PROCESS, "exec sleep 1000");
    process.pause();

    ControlPlane.end(List.of(process));

    assertThat(process.isAlive()).isFalse();
  }

  @Test
  void outputGoesToTheLog() throws Exception {
    ManagedProcess process = start(Lifetime.WITH_THIS_PROCESS, "echo said; echo cried >&2");

    assertThat(process.awaitEnd(LIMIT)).isTrue();
    assertThat(Files.readString(process.log())).isEqualTo("said\ncried\n");
  }

  @Test
  void aSupervisedProgramDiesWithItsStarterThatIsKilled() throws Exception {
    Process starter = starter(Lifetime.WITH_THIS_PROCESS);
    long pid = readPid(starter);
    assertThat(isAlive(pid)).isTrue();

    starter.destroyForcibly();

    await().atMost(LIMIT).until(() -> !isAlive(pid));
  }

  @Test
  void aDetachedProgramOutlivesItsStarter() throws Exception {
    Process starter = starter(Lifetime.UNTIL_STOPPED);
    long pid = readPid(starter);
    starter.destroyForcibly().waitFor();

    ManagedProcess process = ManagedProcess.found("program", pid, directory.resolve("starter.log"));
    try {
      assertThat(process.isAlive()).isTrue();
    } finally {
      process.kill();
    }
    assertThat(process.awaitEnd(LIMIT)).isTrue();
  }

  @Test
  void aProcessIdThatWasGivenToAnotherProcessIsNotTakenForTheRecordedOne() {
    ProcessRecord own = ProcessRecord.ofThisProcess();
    ProcessRecord earlier =
        new ProcessRecord(own.program(), own.pid(), own.startedAtMillis() - 60_000);

    assertThat(own.isAlive()).isTrue();
    assertThat(earlier.isAlive()).isFalse();
  }

  private ManagedProcess start(Lifetime lifetime, String script) {
    return new ProcessLauncher(lifetime)
        .start("program", List.of("sh", "-c", script), directory.resolve("program.log"));
  }

  private Process starter(Lifetime lifetime) throws Exception {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Starter.class.getName(),
            lifetime.name(),
            directory.resolve("starter.log").toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static long readPid(Process starter) throws Exception {
    BufferedReader reader = starter.inputReader(StandardCharsets.US_ASCII);
    return Long.parseLong(reader.readLine());
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()
        && !ProcessFiles.isZombie(pid);
  }

  /** A process that starts a program, says its id, and waits to be killed. */
  static final class Starter {

    private Starter() {}

    public static void main(String[] args) throws Exception {
      ManagedProcess process =
          new ProcessLauncher(Lifetime.valueOf(args[0]))
              .start("program", List.of("sleep", "1000"), Path.of(args[1]));
      System.out.println(process.pid());
      System.out.flush();
      new CountDownLatch(1).await();
    }
  }
}
