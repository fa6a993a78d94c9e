package dev.sluice.lab.process;

import dev.sluice.app.JvmOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Command lines of programs of this project in a process of their own. */
public final class JavaCommand {

  private JavaCommand() {}

  /** The program {@code java} of this process. */
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /** Runs a class with the class path of this process, and the options of every process. */
  public static List<String> of(Class<?> program, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(java());
    command.addAll(JvmOptions.all());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    return command;
  }
}
