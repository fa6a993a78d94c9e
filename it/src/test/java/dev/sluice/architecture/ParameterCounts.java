package dev.sluice.architecture;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import dev.sluice.architecture.ProjectRules.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import javax.lang.model.element.Modifier;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Finds what takes too many values by position: records and constructors beyond {@value
 * #MOST_COMPONENTS} components, and methods beyond {@value #MOST_PARAMETERS} parameters.
 */
final class ParameterCounts {

  private static final int MOST_COMPONENTS = 8;
  private static final int MOST_PARAMETERS = 6;

  private ParameterCounts() {}

  /**
   * The declarations beyond the limits in alphabetical order, such as {@code record Pod 9}, {@code
   * constructor Pod.Status 10} or {@code method Pod.Status.of 7}: the number is how many values are
   * taken.
   */
  static List<String> beyondLimits(List<Source> sources) {
    Declarations declarations = new Declarations();
    parsed(sources).forEach(unit -> declarations.scan(unit, null));
    return List.copyOf(declarations.wide);
  }

  /** The trees of the files. */
  static List<CompilationUnitTree> parsed(List<Source> sources) {
    List<JavaFileObject> files = sources.stream().map(ParameterCounts::file).toList();
    JavacTask task =
        (JavacTask)
            ToolProvider.getSystemJavaCompiler().getTask(null, null, null, null, null, files);
    List<CompilationUnitTree> units = new ArrayList<>();
    try {
      task.parse().forEach(units::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return units;
  }

  private static JavaFileObject file(Source source) {
    return new SimpleJavaFileObject(
        URI.create("string:///" + source.path()), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return source.text();
      }
    };
  }

  /** Visits the types of files, and knows in which type it is. */
  private static final class Declarations extends TreeScanner<@Nullable Void, @Nullable Void> {

    private final TreeSet<String> wide = new TreeSet<>();
    private final Deque<String> types = new ArrayDeque<>();
    private final Deque<Long> components = new ArrayDeque<>();

    @Override
    public @Nullable Void visitClass(ClassTree type, @Nullable Void unused) {
      types.addLast(type.getSimpleName().toString());
      boolean isRecord = type.getKind() == Tree.Kind.RECORD;
      components.addLast(
          isRecord ? type.getMembers().stream().filter(this::isComponent).count() : 0L);
      note("record", String.join(".", types), components.getLast(), MOST_COMPONENTS);
      super.visitClass(type, unused);
      types.removeLast();
      components.removeLast();
      return null;
    }

    @Override
    public @Nullable Void visitMethod(MethodTree method, @Nullable Void unused) {
      int parameters = method.getParameters().size();
      String type = String.join(".", types);
      if (method.getReturnType() != null) {
        note("method", type + "." + method.getName(), parameters, MOST_PARAMETERS);
      } else if (parameters != components.getLast()) { // the record stands for its own constructor
        note("constructor", type, parameters, MOST_COMPONENTS);
      }
      return super.visitMethod(method, unused);
    }

    /** A record has no fields of its own besides its components, except for static ones. */
    private boolean isComponent(Tree member) {
      return member instanceof VariableTree field
          && !field.getModifiers().getFlags().contains(Modifier.STATIC);
    }

    private void note(String what, String name, long count, int most) {
      if (count > most) {
        wide.add(String.format(Locale.ROOT, "%s %s %d", what, name, count));
      }
    }
  }
}
