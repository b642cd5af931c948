package dev.sluice.local.protocol;

import dev.sluice.local.lease.Scope;
import java.util.function.Predicate;

/**
 * The scopes of a store that orders may name.
 *
 * @param exists whether there is one on this server; it may be asked by many threads
 * @param hint a sentence that tells a client which there can be
 */
public record Scopes(Predicate<Scope> exists, String hint) {}
