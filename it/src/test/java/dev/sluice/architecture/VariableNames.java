package dev.sluice.architecture;

import com.sun.source.tree.ArrayTypeTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreeScanner;
import dev.sluice.architecture.ProjectRules.Source;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds fields and parameters of a project's type whose name shares no word with the name of the
 * type. Names that only tell one value from another of the same type are left out.
 */
final class VariableNames {

  /** The parts that a value plays beside another one of its type. */
  private static final Set<String> PARTS =
      Set.of(
          "after",
          "before",
          "current",
          "first",
          "from",
          "known",
          "last",
          "left",
          "next",
          "now",
          "one",
          "other",
          "others",
          "parent",
          "present",
          "previous",
          "right",
          "that",
          "then",
          "to");

  private static final Pattern WORD_START =
      Pattern.compile("\\W+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])");

  private VariableNames() {}

  /** The variables in alphabetical order, such as {@code jobs/Pods.java PodIndex directory}. */
  static List<String> foreign(List<Source> sources) {
    List<CompilationUnitTree> units = ParameterCounts.parsed(sources);
    Set<String> types = new HashSet<>();
    units.forEach(unit -> new TypeNames(types).scan(unit, null));
    TreeSet<String> found = new TreeSet<>();
    for (CompilationUnitTree unit : units) {
      Set<String> visible = new HashSet<>(types);
      visible.removeAll(foreignTypes(unit));
      new Variables(path(unit), visible, found).scan(unit.getTypeDecls(), null);
    }
    return List.copyOf(found);
  }

  /** The types of others that a file imports: some have the name of a type of the project. */
  private static Set<String> foreignTypes(CompilationUnitTree unit) {
    Set<String> names = new HashSet<>();
    for (ImportTree imported : unit.getImports()) {
      String name = imported.getQualifiedIdentifier().toString();
      if (!name.startsWith("dev.sluice.")) {
        names.add(name.substring(name.lastIndexOf('.') + 1));
      }
    }
    return names;
  }

  private static String path(CompilationUnitTree unit) {
    return unit.getSourceFile().toUri().getPath().replaceFirst("^.*/dev/sluice/", "");
  }

  /** Whether a name has a word of the name of its type. */
  private static boolean share(String type, String name) {
    Set<String> ofType = words(type);
    return words(name).stream().anyMatch(word -> PARTS.contains(word) || ofType.contains(word));
  }

  /** The words of a name, or of a type as it is written, in the singular. */
  private static Set<String> words(String name) {
    Set<String> words = new HashSet<>();
    for (String word : WORD_START.split(name)) {
      words.add(singular(word.toLowerCase(Locale.ROOT)));
    }
    return words;
  }

  private static String singular(String word) {
    if (word.endsWith("ies")) {
      return word.substring(0, word.length() - 3) + "y";
    }
    return word.endsWith("s") && !word.endsWith("ss") ? word.substring(0, word.length() - 1) : word;
  }

  /** Collects the names of the types that files declare. */
  private static final class TypeNames extends TreeScanner<@Nullable Void, @Nullable Void> {

    private final Set<String> types;

    TypeNames(Set<String> types) {
      this.types = types;
    }

    @Override
    public @Nullable Void visitClass(ClassTree type, @Nullable Void unused) {
      if (!type.getSimpleName().isEmpty()) { // an anonymous class has no name
        types.add(type.getSimpleName().toString());
      }
      return super.visitClass(type, unused);
    }
  }

  /** Visits fields and parameters of methods. */
  private static final class Variables extends TreeScanner<@Nullable Void, @Nullable Void> {

    private final String path;
    private final Set<String> types;
    private final Set<String> found;

    Variables(String path, Set<String> types, Set<String> found) {
      this.path = path;
      this.types = types;
      this.found = found;
    }

    @Override
    public @Nullable Void visitClass(ClassTree type, @Nullable Void unused) {
      for (Tree member : type.getMembers()) {
        if (member instanceof VariableTree field) {
          check(field);
        }
      }
      return super.visitClass(type, unused);
    }

    @Override
    public @Nullable Void visitMethod(MethodTree method, @Nullable Void unused) {
      method.getParameters().forEach(this::check);
      return super.visitMethod(method, unused);
    }

    private void check(VariableTree variable) {
      Tree type = variable.getType();
      String text = type.toString(); // with the types in angle brackets
      if (type instanceof ArrayTypeTree array) { // also of a parameter that takes any number
        type = array.getType();
      }
      if (type instanceof ParameterizedTypeTree parameterized) {
        type = parameterized.getType();
      }
      String name = variable.getName().toString();
      String simple =
          switch (type) {
            case IdentifierTree identifier -> identifier.getName().toString();
            case MemberSelectTree select -> select.getIdentifier().toString();
            case null, default -> "";
          };
      boolean constant = name.equals(name.toUpperCase(Locale.ROOT));
      if (!constant && types.contains(simple) && !share(text, name)) {
        found.add(path + " " + simple + " " + name);
      }
    }
  }
}
