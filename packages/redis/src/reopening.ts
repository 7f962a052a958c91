/** When the store's own connection is opened again after it was lost: soon at first, then every half second, and without keeping the process alive. */
import { backoffMs } from './safe-options.js';

export interface Reopening {
  /** Is a try due? */
  readonly due: boolean;
  /** The connection has ended: tries again later. */
  lost(): void;
  /** It is there: the next loss begins with the shortest wait. */
  made(): void;
  /** While calls are under way, the wait keeps the process alive. */
  hold(busy: boolean): void;
  cancel(): void;
}

export function reopening(open: () => void): Reopening {
  let timer: NodeJS.Timeout | undefined;
  let tries = 0;
  let held = false;
  return {
    get due() {
      return timer !== undefined;
    },
    lost() {
      if (timer !== undefined) return;
      tries += 1;
      timer = setTimeout(() => {
        timer = undefined;
        open();
      }, backoffMs(tries));
      if (!held) timer.unref();
    },
    made() {
      tries = 0;
    },
    hold(busy) {
      held = busy;
      if (busy) timer?.ref();
      else timer?.unref();
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
