package dev.sluice.app;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssertTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.Tree.Kind;
import com.sun.source.tree.TypeCastTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The texts for people in the sources: string expressions that read as sentences, and the lines of
 * the log. A value that is inserted shows as its name in angle brackets.
 */
final class MessageSources {

  /** In place of a level: an event, as reason and note. */
  static final String EVENT = "event";

  /** Of the recorder: object, type, reason, action, note. */
  private static final int EVENT_ARGUMENTS = 5;

  /** Of a method named record that calls the recorder: object, type, reason, note. */
  private static final int OWN_EVENT_ARGUMENTS = 4;

  private static final Set<Modifier> CONSTANT = Set.of(Modifier.STATIC, Modifier.FINAL);

  private static final Set<String> LEVELS = Set.of("error", "warn", "info");

  /** At least three words. */
  private static final Pattern SENTENCE =
      Pattern.compile("[\\p{L}<\"(].*?[\\p{L}>,.;:)\"] [\\p{L}<\"(%-].* .*", Pattern.DOTALL);

  /**
   * Expressions in other languages (CEL, JSON, YAML, regular expressions), and words of the log.
   */
  private static final Pattern CODE =
      Pattern.compile("[{}\\n\\\\]|, reason=|&&|\\|\\||==|\\?:|has\\(");

  /** Exceptions that tell a fault of the program itself. */
  private static final Set<String> INTERNAL =
      Set.of(
          "IllegalStateException",
          "IllegalArgumentException",
          "UncheckedIOException",
          "AssertionError",
          "NullPointerException",
          "UnsupportedOperationException",
          "NoSuchElementException");

  private static final Pattern PLACE = Pattern.compile("\\{}|%[-\\d.,]*[sdfxbc]");

  private MessageSources() {}

  /**
   * A text.
   *
   * @param level of a line of the log, or {@link #EVENT}; empty for any other text
   * @param file the file, below the root of the main sources
   */
  record Text(String level, Path file, String text) implements Comparable<Text> {

    /** The simple name of the file's type. */
    String type() {
      return file.getFileName().toString().replace(".java", "");
    }

    private static final Comparator<Text> ORDER =
        Comparator.comparing(Text::text, String.CASE_INSENSITIVE_ORDER)
            .thenComparing(Text::text)
            .thenComparing(Text::type)
            .thenComparing(Text::level)
            .thenComparing(Text::file);

    @Override
    public int compareTo(Text other) {
      return ORDER.compare(this, other);
    }
  }

  /** All texts of the program without the laboratory, in order and each once per file. */
  static Set<Text> all() {
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    Set<Text> texts = new TreeSet<>();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  diagnostic -> {},
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(SourceTrees.shipped()));
      List<CompilationUnitTree> units = new ArrayList<>();
      task.parse().forEach(units::add);
      Map<String, String> shared = shared(units);
      for (CompilationUnitTree unit : units) {
        Path file = Path.of(SourceTrees.name(Path.of(unit.getSourceFile().toUri())));
        new Reader(file, shared, texts).scan(unit, null);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return texts;
  }

  /** The constants of all files whose name stands for one value only. */
  private static Map<String, String> shared(List<CompilationUnitTree> units) {
    Map<String, String> shared = new HashMap<>();
    Set<String> ambiguous = new TreeSet<>();
    for (CompilationUnitTree unit : units) {
      for (Tree type : unit.getTypeDecls()) {
        if (type instanceof ClassTree declared) {
          Reader reader = new Reader(Path.of(""), Map.of(), new TreeSet<>());
          reader.constants.putAll(constants(declared));
          reader.constants.forEach(
              (name, value) -> {
                String text = reader.shown(value);
                if (!text.equals(shared.getOrDefault(name, text))) {
                  ambiguous.add(name);
                }
                shared.put(name, text);
              });
        }
      }
    }
    shared.keySet().removeAll(ambiguous);
    return shared;
  }

  private static Map<String, ExpressionTree> constants(ClassTree type) {
    Map<String, ExpressionTree> constants = new HashMap<>();
    for (Tree member : type.getMembers()) {
      if (member instanceof VariableTree field
          && field.getInitializer() != null
          && field.getModifiers().getFlags().containsAll(CONSTANT)
          && field.getType() != null
          && field.getType().toString().equals("String")) {
        constants.put(field.getName().toString(), field.getInitializer());
      }
    }
    return constants;
  }

  /** Reads one file. */
  private static final class Reader extends TreeScanner<@Nullable Void, @Nullable Void> {

    private final Path file;
    private final Set<Text> texts;
    private final Map<String, String> shared;
    private final Map<String, ExpressionTree> constants = new HashMap<>();

    Reader(Path file, Map<String, String> shared, Set<Text> texts) {
      this.file = file;
      this.texts = texts;
      this.shared = shared;
    }

    @Override
    public @Nullable Void visitClass(ClassTree tree, @Nullable Void none) {
      constants.putAll(MessageSources.constants(tree));
      return super.visitClass(tree, none);
    }

    @Override
    public @Nullable Void visitAnnotation(AnnotationTree tree, @Nullable Void none) {
      return null;
    }

    @Override
    public @Nullable Void visitAssert(AssertTree tree, @Nullable Void none) {
      return null;
    }

    @Override
    public @Nullable Void visitThrow(ThrowTree tree, @Nullable Void none) {
      return tree.getExpression() instanceof NewClassTree thrown
              && INTERNAL.contains(thrown.getIdentifier().toString())
          ? null
          : super.visitThrow(tree, none);
    }

    @Override
    public @Nullable Void visitLiteral(LiteralTree tree, @Nullable Void none) {
      add(tree);
      return null;
    }

    @Override
    public @Nullable Void visitBinary(BinaryTree tree, @Nullable Void none) {
      if (tree.getKind() == Kind.PLUS && isText(tree)) {
        add(tree);
        return null;
      }
      return super.visitBinary(tree, none);
    }

    @Override
    public @Nullable Void visitNewClass(NewClassTree tree, @Nullable Void none) {
      if (tree.getIdentifier().toString().endsWith("EventSpec")) {
        event(tree.getArguments().get(1), tree.getArguments().get(2));
      }
      return super.visitNewClass(tree, none);
    }

    @Override
    public @Nullable Void visitMethodInvocation(MethodInvocationTree tree, @Nullable Void none) {
      recorded(tree);
      if (tree.getMethodSelect() instanceof MemberSelectTree select) {
        String method = select.getIdentifier().toString();
        if (select.getExpression().toString().equals("LOG") && !tree.getArguments().isEmpty()) {
          if (LEVELS.contains(method)) {
            texts.add(new Text(method, file, line(tree)));
          }
          return null;
        }
        if (method.equals("formatted")) {
          add(tree);
          return null;
        }
      }
      return super.visitMethodInvocation(tree, none);
    }

    /** Adds a call of one of the recorders of events: reason and note are its last arguments. */
    private void recorded(MethodInvocationTree tree) {
      List<? extends ExpressionTree> values = tree.getArguments();
      switch (tree.getMethodSelect().toString()) {
        case "events.normal", "events.warning" -> event(values.get(1), values.get(2));
        case "record" -> {
          if (values.size() == OWN_EVENT_ARGUMENTS) {
            event(values.get(2), values.getLast());
          }
        }
        case "events.record" -> {
          if (values.size() == EVENT_ARGUMENTS) {
            event(values.get(2), values.getLast());
          }
        }
        default -> {}
      }
    }

    /** A reason that is passed on as a value is told where it comes from. */
    private void event(ExpressionTree reason, ExpressionTree note) {
      if (shown(reason).startsWith("<")) {
        return;
      }
      texts.add(new Text(EVENT, file, shown(reason) + ": " + shown(note)));
    }

    private String line(MethodInvocationTree tree) {
      List<? extends ExpressionTree> all = tree.getArguments();
      return filled(shown(all.getFirst()), all.subList(1, all.size()));
    }

    private void add(ExpressionTree tree) {
      String text = shown(tree);
      if (SENTENCE.matcher(text.strip()).matches() && !CODE.matcher(text).find()) {
        texts.add(new Text("", file, text.strip()));
      }
    }

    private boolean isText(ExpressionTree tree) {
      return switch (tree) {
        case LiteralTree literal -> literal.getValue() instanceof String;
        case BinaryTree both -> isText(both.getLeftOperand()) || isText(both.getRightOperand());
        case ParenthesizedTree inner -> isText(inner.getExpression());
        default -> false;
      };
    }

    private String shown(ExpressionTree tree) {
      return switch (tree) {
        case LiteralTree literal -> String.valueOf(literal.getValue());
        case BinaryTree both when both.getKind() == Kind.PLUS && isText(both) ->
            shown(both.getLeftOperand()) + shown(both.getRightOperand());
        case ParenthesizedTree inner -> shown(inner.getExpression());
        case TypeCastTree cast -> shown(cast.getExpression());
        case ConditionalExpressionTree either
            when isText(either.getTrueExpression()) || isText(either.getFalseExpression()) ->
            "["
                + shown(either.getTrueExpression())
                + "|"
                + shown(either.getFalseExpression())
                + "]";
        case IdentifierTree name -> named(name.getName().toString());
        case MemberSelectTree select -> named(select.getIdentifier().toString());
        case MethodInvocationTree call -> called(call);
        default -> "<…>";
      };
    }

    private String named(String name) {
      ExpressionTree constant = constants.get(name);
      if (constant == null) {
        return shared.getOrDefault(name, "<" + name + ">");
      }
      return constant.toString().contains(name) ? "<" + name + ">" : shown(constant);
    }

    private String called(MethodInvocationTree call) {
      if (call.getMethodSelect() instanceof MemberSelectTree select) {
        String method = select.getIdentifier().toString();
        if (method.equals("formatted")) {
          return filled(shown(select.getExpression()), call.getArguments());
        }
        if (method.equals("join") && call.getArguments().size() == 2) {
          return shown(call.getArguments().getLast());
        }
        return "<" + method + ">";
      }
      return "<" + call.getMethodSelect() + ">";
    }

    private String filled(String form, List<? extends ExpressionTree> values) {
      Matcher place = PLACE.matcher(form);
      StringBuilder text = new StringBuilder();
      for (int i = 0; place.find(); i++) {
        String value = i < values.size() ? shown(values.get(i)) : "<…>";
        place.appendReplacement(text, Matcher.quoteReplacement(value));
      }
      return place.appendTail(text).toString();
    }
  }
}
