#include "results/pages/html_page.h"

/// The style sheet of reports. Colours are the variables that css_variables() defines.
namespace gradwire::results {

const char* const kHtmlStyle = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--gw-background);color:var(--gw-ink);
 font:15px/1.55 "Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:40px 28px 64px}
h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:20px;margin:44px 0 12px;padding-top:14px;border-top:2px solid var(--gw-ink)}
h3{font-size:16px;margin:26px 0 8px}
p{margin:0 0 10px;max-width:76ch}
.lead{font-size:17px;color:var(--gw-muted)}
.chips{margin:14px 0 0;padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:8px}
.chips li{border:1px solid var(--gw-grid);border-radius:999px;padding:2px 12px;font-size:13px;
 color:var(--gw-muted)}
.answers{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px;margin:0}
.answers div{border:1px solid var(--gw-grid);border-left:4px solid var(--gw-s0);border-radius:6px;
 padding:14px 18px}
.answers dt{font-weight:600;margin-bottom:4px}
.answers dd{margin:0;overflow-wrap:anywhere}
.answers.small dt{font-size:14px}.answers.small dd{font-size:14px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:7px 12px;border-bottom:1px solid var(--gw-grid);vertical-align:top}
th{color:var(--gw-muted);font-weight:600;border-bottom:2px solid var(--gw-muted)}
th:first-child,td:first-child{text-align:left}
table.text th,table.text td{text-align:left}
table.data td.text,table.data th.text{text-align:left}
.data td{overflow-wrap:anywhere;min-width:5em}
table.text td:first-child{color:var(--gw-muted);white-space:nowrap;width:1%}
tr.section td{font-weight:600;padding-top:16px;border-bottom:1px solid var(--gw-muted)}
.figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:18px;align-items:start;margin-top:18px}
figure{margin:0;border:1px solid var(--gw-grid);border-radius:6px;padding:8px;break-inside:avoid}
figure.wide{grid-column:1/-1}
figure:target,td a:target{outline:2px solid var(--gw-s0);scroll-margin-top:12px}
figure svg{display:block;width:100%;height:auto}
figure summary{font-size:13px;color:var(--gw-muted);cursor:pointer}
figure td,figure th{padding:3px 8px;font-size:12.5px}
ul{max-width:84ch;padding-left:20px}
li{margin:4px 0}
code{font:13px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,monospace;overflow-wrap:anywhere}
.note{color:var(--gw-muted);font-size:13px;max-width:120ch;margin-top:10px}
.planner td,.planner th{text-align:left;padding:6px 7px;font-size:13px;line-height:1.4}
.planner tr.first td{border-top:1px solid var(--gw-muted)}.planner td:nth-child(4){font-weight:600}
.answers.planner{grid-template-columns:repeat(3,minmax(0,1fr));margin-top:20px}
.answers.planner div{padding:10px 14px}.answers.planner div:last-child{grid-column:1/-1}
h2.contents{margin-top:20px}
h2::first-letter{text-transform:uppercase}
a{color:inherit}
@media screen and (max-width:820px){.answers,.answers.planner,.figures{grid-template-columns:1fr}
 main{padding:24px 16px}.answers.planner{gap:8px}table.text td:first-child{white-space:normal}
 .scroll table:not(.text):not(.data) td{white-space:nowrap}
 .planner thead{display:none}.planner td{display:block;border:0;padding:2px 0;overflow-wrap:anywhere}
 .planner tr{display:block;border-bottom:1px solid var(--gw-muted);padding:10px 0}
 .planner tr.first td{border:0}
 .planner td+td::before{content:attr(data-label) ": ";color:var(--gw-muted);font-weight:400}}
@media screen and (max-width:560px){figure{overflow-x:auto}figure svg{min-width:480px}
 figure.wide svg{min-width:900px}}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}tr,.answers div{break-inside:avoid}
 body{font-size:11pt}}
)css";

}  // namespace gradwire::results
