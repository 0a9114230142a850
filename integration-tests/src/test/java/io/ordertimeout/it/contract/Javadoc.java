package io.ordertimeout.it.contract;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.ParamTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** The Javadoc in source files: of types, their components and their methods. */
final class Javadoc {

  private final Map<String, String> texts = new HashMap<>();

  private Javadoc() {}

  /** Reads all source files below a directory. */
  static Javadoc read(Path directory) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Javadoc javadoc = new Javadoc();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> paths = Files.walk(directory)) {
      List<Path> sources = paths.filter(path -> path.toString().endsWith(".java")).toList();
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
      DocTrees trees = DocTrees.instance(task);
      for (CompilationUnitTree unit : task.parse()) {
        javadoc.add(unit, trees);
      }
      return javadoc;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void add(CompilationUnitTree unit, DocTrees trees) {
    new TreePathScanner<@Nullable Void, String>() {
      @Override
      public @Nullable Void visitClass(ClassTree type, String outer) {
        String name = outer + "." + type.getSimpleName();
        add(name, trees.getDocCommentTree(getCurrentPath()));
        return super.visitClass(type, name);
      }

      @Override
      public @Nullable Void visitMethod(MethodTree method, String type) {
        add(type + "#" + method.getName(), trees.getDocCommentTree(getCurrentPath()));
        return null;
      }
    }.scan(unit, String.valueOf(unit.getPackageName()));
  }

  private void add(String name, @Nullable DocCommentTree comment) {
    if (comment != null) {
      texts.put(name, text(comment.getFullBody()));
      for (DocTree tag : comment.getBlockTags()) {
        if (tag instanceof ParamTree param && !param.isTypeParameter()) {
          texts.put(name + ":" + param.getName(), text(param.getDescription()));
        }
      }
    }
  }

  private static String text(List<? extends DocTree> parts) {
    return String.join("", parts.stream().map(String::valueOf).toList())
        .replaceAll("\\s+", " ")
        .replaceAll("\\{@(?:code|link) #?([^}]*)}", "$1")
        .strip();
  }

  /** Returns the description of a type, by its canonical name; null if it has none. */
  @Nullable String type(String name) {
    return texts.get(name);
  }

  /** Returns the description of a component of a record; null if it has none. */
  @Nullable String component(String type, String name) {
    return texts.get(type + ":" + name);
  }

  /** Returns the description of a method; null if it has none. */
  @Nullable String method(String type, String name) {
    return texts.get(type + "#" + name);
  }
}
