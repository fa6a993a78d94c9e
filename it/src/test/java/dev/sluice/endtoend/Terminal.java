package dev.sluice.endtoend;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/** A shell in which commands are typed one after the other, as a person does. */
final class Terminal implements AutoCloseable {

  private static final String END = "end-of-the-command ";

  private final Process shell;
  private final Writer input;
  private final BufferedReader output;

  /**
   * What a command left.
   *
   * @param text both streams
   * @param code its exit code
   */
  record Result(String text, int code) {}

  /**
   * Starts the shell.
   *
   * @param directory where the commands run
   * @param environment variables besides those of this process; an empty one is taken away
   */
  Terminal(Path directory, Map<String, String> environment) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "--noprofile", "--norc")
            .directory(directory.toFile())
            .redirectErrorStream(true);
    environment.forEach(
        (name, value) -> {
          if (value.isEmpty()) {
            builder.environment().remove(name);
          } else {
            builder.environment().put(name, value);
          }
        });
    shell = builder.start();
    input = shell.outputWriter(StandardCharsets.UTF_8);
    output = shell.inputReader(StandardCharsets.UTF_8);
  }

  /** Types a command, and waits for its end. */
  Result type(String command) throws IOException {
    input.write(command + "\nprintf '\\n" + END + "%s\\n' $?\n");
    input.flush();
    StringBuilder text = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(END)) {
        return new Result(text.toString().strip(), Integer.parseInt(line.substring(END.length())));
      }
      text.append(line).append('\n');
    }
    throw new IOException("the shell ended at: " + command + "\n" + text);
  }

  /** Ends the shell, and what runs in its background. */
  @Override
  public void close() {
    try (Stream<ProcessHandle> background = shell.descendants()) {
      background.toList().forEach(ProcessHandle::destroy);
    }
    try {
      input.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      shell.destroy();
    }
  }
}
