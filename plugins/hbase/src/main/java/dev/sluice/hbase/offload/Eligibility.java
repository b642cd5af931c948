package dev.sluice.hbase.offload;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.crypto.Encryption;
import org.apache.hadoop.hbase.regionserver.DefaultStoreEngine;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.regionserver.StoreContext;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.security.UserGroupInformation;

/** Whether another node would do a compaction as this one does. */
final class Eligibility {
  /** Hooks by which a coprocessor changes what a compaction reads or keeps. */
  private static final Set<String> HOOKS =
      Set.of(
          "preCompactScannerOpen",
          "preCompact",
          "preStoreFileReaderOpen",
          "postStoreFileReaderOpen",
          "postInstantiateDeleteTracker");

  private static final List<Method> HOOK_METHODS =
      Arrays.stream(RegionObserver.class.getMethods())
          .filter(method -> HOOKS.contains(method.getName()))
          .toList();

  private Eligibility() {}

  static void check(HStore store, CompactionRequestImpl request) throws StaysLocalException {
    checkStore(store);
    checkFamily(store);
    for (HStoreFile file : request.getFiles()) {
      checkFile(file);
    }
  }

  private static void checkStore(HStore store) throws StaysLocalException {
    stayIf(
        store.getTableName().isSystemTable(), Reasons.SYSTEM_TABLE, "it is a table of the store's");
    stayIf(
        store.getStoreEngine().getClass() != DefaultStoreEngine.class,
        Reasons.ENGINE,
        "the store is kept by " + store.getStoreEngine().getClass().getName());
    stayIf(
        !store.getStoreEngine().requireWritingToTmpDirFirst(),
        Reasons.FILE_TRACKER,
        "its file tracker has outputs written to the store's folder");
    stayIf(
        !"hdfs".equals(store.getFileSystem().getUri().getScheme()),
        Reasons.FILE_SYSTEM,
        "its files are at " + store.getFileSystem().getUri());
    stayIf(
        UserGroupInformation.isSecurityEnabled(),
        Reasons.KERBEROS,
        "HDFS asks for tickets, which workers do not have");
    stayIf(
        hasHooks(store.getHRegion().getCoprocessorHost()),
        Reasons.COPROCESSOR,
        "a coprocessor of the region has a hook of compactions");
  }

  private static void checkFamily(HStore store) throws StaysLocalException {
    StoreContext context = store.getStoreContext();
    stayIf(context.getFamily().isMobEnabled(), Reasons.MOB, "the family has values in other files");
    stayIf(
        context.getFamily().getEncryptionType() != null
            || isEncrypted(context.getEncryptionContext()),
        Reasons.ENCRYPTION,
        "the family is encrypted");
    stayIf(
        context.getFavoredNodes() != null,
        Reasons.FAVORED_NODES,
        "the region's blocks are to be on nodes of its own");
    stayIf(
        context.getCacheConf().shouldCacheCompactedBlocksOnWrite(),
        Reasons.CACHE_ON_WRITE,
        "what is written is to be in this server's cache");
  }

  private static void checkFile(HStoreFile file) throws StaysLocalException {
    stayIf(
        file.isReference() || file.getFileInfo().isLink(),
        Reasons.REFERENCE,
        file.getPath() + " stands for a file elsewhere");
    stayIf(
        file.getReader() != null
            && isEncrypted(
                file.getReader().getHFileReader().getFileContext().getEncryptionContext()),
        Reasons.ENCRYPTION,
        file.getPath() + " is encrypted");
  }

  private static boolean isEncrypted(Encryption.Context context) {
    return context != null && context != Encryption.Context.NONE;
  }

  private static boolean hasHooks(RegionCoprocessorHost host) {
    return host != null
        && host.findCoprocessors(RegionCoprocessor.class).stream()
            .flatMap(coprocessor -> coprocessor.getRegionObserver().stream())
            .anyMatch(Eligibility::hasHook);
  }

  /** Whether an observer has a hook of its own in the place of one that does nothing. */
  static boolean hasHook(RegionObserver observer) {
    return HOOK_METHODS.stream().flatMap(hook -> own(observer, hook)).findAny().isPresent();
  }

  private static Stream<Method> own(RegionObserver observer, Method hook) {
    try {
      Method method = observer.getClass().getMethod(hook.getName(), hook.getParameterTypes());
      return method.getDeclaringClass() == RegionObserver.class
          ? Stream.empty()
          : Stream.of(method);
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("a class has the methods of its interface", e);
    }
  }

  private static void stayIf(boolean stays, String reason, String detail)
      throws StaysLocalException {
    if (stays) {
      throw new StaysLocalException(reason, detail);
    }
  }
}
