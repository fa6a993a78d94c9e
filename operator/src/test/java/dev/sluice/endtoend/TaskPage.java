package dev.sluice.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a reader of a page in docs/tasks saves and types, in its order. Blocks marked {@code yaml}
 * whose first line is a comment with a file name are files. Blocks marked {@code console} are
 * commands, each with the output that the page shows. Other blocks are only for reading.
 */
final class TaskPage {

  private static final Pattern BLOCK =
      Pattern.compile("^```(yaml|console)\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern FILE_NAME = Pattern.compile("# (\\S+\\.yaml)\n");
  private static final String PROMPT = "$ ";

  /** Commands that only read: they are repeated until they show what the page shows. */
  private static final Pattern READS =
      Pattern.compile(
          "^(kubectl( --\\S+ \\S+)? get |\\./sluice explain |sh kubectl-sluice |curl ).*");

  private static final Pattern TIME = Pattern.compile("\\b\\d+(ms|s|m|h)(\\d+s)?\\b");
  private static final Pattern NAME_ENDING = Pattern.compile("-[0-9a-f]{5}\\b");
  private static final String ANYTHING = "…";

  /** One thing that the reader does. */
  sealed interface Step {}

  /** A file that is saved. */
  record SavedFile(String name, String text) implements Step {}

  /**
   * A command, and what the page shows of its output.
   *
   * @param shown empty where the page shows nothing, so that any output will do
   */
  record Command(String text, String shown) implements Step {

    /** Whether it changes nothing, so that it may be repeated. */
    boolean reads() {
      return READS.matcher(text).matches();
    }

    /** Whether an output is the one that the page shows. */
    boolean shows(String output) {
      return shown.isEmpty() || pattern(shown).matcher(normal(output)).matches();
    }

    private static Pattern pattern(String text) {
      return Pattern.compile(
          Pattern.compile(ANYTHING)
              .splitAsStream(normal(text) + " ")
              .map(part -> Pattern.quote(part.endsWith(" ") ? part.stripTrailing() : part))
              .collect(Collectors.joining(".*")),
          Pattern.DOTALL);
    }

    /** Without what differs from run to run: times, the ends of names, the widths of columns. */
    private static String normal(String text) {
      String times = TIME.matcher(text).replaceAll("<time>");
      return NAME_ENDING.matcher(times).replaceAll("-<id>").replaceAll("\\s+", " ").strip();
    }
  }

  private TaskPage() {}

  /** The steps of a page. */
  static List<Step> steps(Path page) throws IOException {
    return steps(Files.readString(page));
  }

  /** The steps of a text. */
  static List<Step> steps(String text) {
    List<Step> steps = new ArrayList<>();
    for (Matcher block = BLOCK.matcher(text); block.find(); ) {
      if (block.group(1).equals("console")) {
        steps.addAll(commands(block.group(2)));
      } else {
        Matcher name = FILE_NAME.matcher(block.group(2));
        if (name.lookingAt()) {
          steps.add(new SavedFile(name.group(1), block.group(2)));
        }
      }
    }
    return steps;
  }

  private static List<Command> commands(String block) {
    List<Command> commands = new ArrayList<>();
    StringBuilder command = new StringBuilder();
    StringBuilder shown = new StringBuilder();
    for (String line : block.lines().toList()) {
      if (line.startsWith(PROMPT)) {
        if (!command.isEmpty()) {
          commands.add(new Command(command.toString(), shown.toString()));
        }
        command.setLength(0);
        shown.setLength(0);
        command.append(line.substring(PROMPT.length()));
      } else if (!command.isEmpty() && command.charAt(command.length() - 1) == '\\') {
        command.setLength(command.length() - 1);
        command.append(line.strip());
      } else {
        shown.append(line).append('\n');
      }
    }
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a console block has no command: " + block);
    }
    commands.add(new Command(command.toString(), shown.toString()));
    return commands;
  }
}
