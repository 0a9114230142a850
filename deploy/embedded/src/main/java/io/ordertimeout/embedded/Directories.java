package io.ordertimeout.embedded;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Recursive deletion and copying of directories; symbolic links are not followed. */
public final class Directories {
  private Directories() {}

  /** Deletes a directory with all that it contains; there may be none. */
  public static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Copies a directory to a path that does not exist yet. Files that vanish meanwhile are left out.
   */
  static void copy(Path source, Path target) throws IOException {
    copy(source, target, relative -> true);
  }

  /**
   * Copies the wanted files of a directory, and all its directories.
   *
   * @param wanted receives the paths of files relative to the source
   */
  static void copy(Path source, Path target, Predicate<Path> wanted) throws IOException {
    Files.walkFileTree(
        source,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes)
              throws IOException {
            // With the same permissions, which servers may check.
            Files.copy(
                visited,
                target.resolve(source.relativize(visited)),
                StandardCopyOption.COPY_ATTRIBUTES);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Path relative = source.relativize(file);
            if (wanted.test(relative)) {
              try {
                Files.copy(file, target.resolve(relative), StandardCopyOption.COPY_ATTRIBUTES);
              } catch (NoSuchFileException e) {
                Files.deleteIfExists(target.resolve(relative));
              }
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
  }
}
