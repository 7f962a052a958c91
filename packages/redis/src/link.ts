/** How the store sees its connections: lanes to servers, each of which either is ready or is not. A driver is one file that makes a Link. */

/** The way to the server that serves a slot. */
export interface Lane {
  /** Names the server; what is learnt about its clock is kept under this name. */
  readonly name: string;
  /** Is the connection made, greeted and writable, so that a command written now leaves at once? */
  readonly ready: boolean;
  /**
   * Writes one command; resolves with the reply, in which the strings of a script (EVALSHA, EVAL) are bytes. Rejects with a
   * NotSent when nothing was written and never will be, with an error for which `isReply` holds when the server refused it,
   * with anything else when the link was lost after the send.
   */
  send(command: string, args: readonly string[]): Promise<unknown>;
}

export interface Link {
  /** Are keys spread over slots? */
  readonly cluster: boolean;
  /** What the store has to put before its prefix: ioredis' `keyPrefix` of the given client (empty where the driver does it itself). */
  readonly keyPrefix: string;
  lane(slot: number): Lane;
  /** Connects what serves this slot, where nothing is connected or connecting. Asked again and again while calls wait for it. */
  open(slot: number): void;
  /** Connects anew: the server behind the lane has stopped being the master. */
  renew(): void;
  /** Keeps the process alive while calls are under way, and only then. */
  hold(busy: boolean): void;
  /** Did the server refuse it (and therefore answer it)? */
  isReply(error: unknown): boolean;
  /** The last thing that went wrong with the connection. */
  readonly trouble: unknown;
  /** Closes what the link itself opened. */
  close(): Promise<void>;
}

export interface LinkHooks {
  /** A fresh connection: asked before its lane becomes ready. Never rejects. */
  greet(lane: Lane): Promise<void>;
  /** A lane may have become ready, or stopped being ready. */
  changed(): void;
}

/** Nothing was written: the command has not run and never will. */
export class NotSent extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'NotSent';
  }
}
