/**
 * The body of a request that the runtime cannot send a second time. Deno's fetch repeats a POST when a kept connection is cut
 * before the answer (seen in 2.9: the script ran twice, and the caller saw one answer). A body that is a stream is gone once
 * it was sent, so there is nothing to repeat. Node, Bun and workerd send once (seen, too) and get plain text.
 */

interface Body {
  readonly body: string | ReadableStream<Uint8Array>;
  readonly duplex?: 'half';
}

export function sentOnce(text: string): Body {
  if (!('Deno' in globalThis)) return { body: text };
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return { body, duplex: 'half' };
}
