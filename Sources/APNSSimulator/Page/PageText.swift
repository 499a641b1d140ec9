/// The page for people: one file without anything from elsewhere.
///
/// Whatever comes from outside is put in as text, never as markup.
enum PageText {
    /// The whole page.
    static let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Local APNs</title>
        <style>\(style)</style>
        </head>
        <body>
        \(markup)
        <script>\(PageScript.text)</script>
        </body>
        </html>

        """

    private static let markup = """
        <header>
          <h1>Local APNs</h1>
          <p id="summary">Asking…</p>
          <span id="live" class="chip">connecting</span>
        </header>
        <main>
          <section aria-labelledby="devices-title">
            <h2 id="devices-title">Devices</h2>
            <div id="empty" class="card" hidden>
              <p>No device is here yet. A device is a program beside you:</p>
              <pre id="hint"></pre>
              <p>It prints a device token. Send a push for that token to the gateway, with any provider library, and
              the notification appears here on the device's screen.</p>
            </div>
            <div id="devices"></div>
          </section>
          <section class="side">
            <div class="card">
              <h2>Requests</h2>
              <p class="number" id="requests">0</p>
              <table><tbody id="answers"></tbody></table>
            </div>
            <div class="card">
              <h2>Connections</h2>
              <p class="number" id="connections">0</p>
              <p class="note" id="connections-note"></p>
              <table><tbody id="connection-list"></tbody></table>
            </div>
            <div class="card">
              <h2>Limits</h2>
              <p class="note" id="limits"></p>
              <p class="bad" id="trouble" hidden></p>
            </div>
          </section>
        </main>
        """

    private static let style = """
        :root { color-scheme: light dark; --back: #eef0f4; --card: #fff; --ink: #16181d; --soft: #667085;
          --line: #d9dde5; --good: #1a8a4a; --bad: #c4322b; --warn: #b26a00; --screen: linear-gradient(160deg, #33508f,
          #7d4fa8 60%, #c26d8e); }
        @media (prefers-color-scheme: dark) { :root { --back: #101217; --card: #1a1d24; --ink: #eceef2; --soft: #98a1b3;
          --line: #2c313c; --good: #4cc780; --bad: #ff7a70; --warn: #f0b04c; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
        header { display: flex; align-items: baseline; gap: 16px; padding: 18px 28px; flex-wrap: wrap; }
        h1 { font-size: 22px; margin: 0; }
        h2 { font-size: 15px; margin: 0 0 10px; color: var(--soft); font-weight: 600; }
        #summary { margin: 0; color: var(--soft); flex: 1; }
        .chip { border-radius: 99px; padding: 2px 12px; font-size: 13px; border: 1px solid var(--line);
          color: var(--soft); }
        .chip.on { color: var(--good); border-color: var(--good); }
        main { display: flex; gap: 28px; padding: 0 28px 40px; align-items: flex-start; flex-wrap: wrap; }
        main > section:first-child { flex: 1 1 560px; }
        .side { flex: 0 1 340px; display: grid; gap: 16px; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px 18px; }
        .number { font-size: 30px; font-weight: 650; margin: 0 0 6px; font-variant-numeric: tabular-nums; }
        .note { color: var(--soft); margin: 0; font-size: 13px; }
        table { width: 100%; border-collapse: collapse; font-size: 13px; }
        td { padding: 3px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
        td.count { text-align: right; font-variant-numeric: tabular-nums; }
        td.status { width: 44px; font-weight: 600; }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        pre { background: var(--back); padding: 10px; border-radius: 8px; overflow: auto; }
        #devices { display: flex; flex-wrap: wrap; gap: 24px; }
        .device { width: 262px; }
        .phone { position: relative; height: 520px; border-radius: 40px; padding: 12px; background: #07080b;
          box-shadow: 0 10px 30px #0004, inset 0 0 0 2px #3b3f49; }
        .screen { height: 100%; border-radius: 30px; background: var(--screen); color: #fff; overflow: hidden;
          display: flex; flex-direction: column; transition: filter .4s; }
        .off .screen { filter: grayscale(1) brightness(.45); }
        .bar { display: flex; justify-content: space-between; padding: 11px 20px 4px; font-size: 12px;
          font-weight: 600; }
        .island { position: absolute; top: 20px; left: 50%; width: 74px; height: 20px; margin-left: -37px;
          border-radius: 12px; background: #000; }
        .clock { text-align: center; font-size: 42px; font-weight: 300; margin: 10px 0 8px; }
        .notes { flex: 1; overflow: auto; padding: 0 9px 12px; display: grid; gap: 7px; align-content: start;
          scrollbar-width: none; }
        .bubble { background: #f6f6fae6; color: #14151a; border-radius: 16px; padding: 8px 10px; display: grid;
          grid-template-columns: 30px 1fr; gap: 8px; font-size: 12.5px; line-height: 1.3; animation: drop .35s; }
        .bubble.ghost { opacity: .55; }
        @keyframes drop { from { transform: translateY(-14px); opacity: 0; } }
        .icon { width: 30px; height: 30px; border-radius: 8px; display: grid; place-items: center; color: #fff;
          font-weight: 700; }
        .bubble div { min-width: 0; overflow-wrap: anywhere; }
        .from { display: flex; justify-content: space-between; gap: 6px; font-size: 11px; color: #5a5d68; }
        .title { font-weight: 650; }
        .state { font-size: 10.5px; color: #5a5d68; }
        .label { padding: 10px 4px 0; font-size: 13px; }
        .label b { display: block; font-size: 14px; }
        .token { display: flex; gap: 6px; align-items: center; margin-top: 4px; }
        .token code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; flex: 1; font-size: 11px; }
        .token.dead { opacity: .5; text-decoration: line-through; }
        button { font: inherit; font-size: 12px; border: 1px solid var(--line); border-radius: 8px;
          background: var(--card); color: inherit; padding: 2px 8px; cursor: pointer; }
        """
}
