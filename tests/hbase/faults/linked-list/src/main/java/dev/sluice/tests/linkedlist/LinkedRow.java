package dev.sluice.tests.linkedlist;

import java.util.Optional;

/**
 * A row to be written.
 *
 * @param previous the row that it refers to, empty while there is none yet
 */
record LinkedRow(Node node, Optional<Node> previous, int fillerBytes) {}
